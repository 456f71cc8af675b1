//! Colours that readers with any colour vision can distinguish.

/// A colour: red, green, blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rgb(pub u8, pub u8, pub u8);

impl Rgb {
    /// As `#rrggbb`.
    pub fn hex(self) -> String {
        format!("#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }
}

/// The colour of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tint {
    /// One of those for classes of motions, by its number.
    Number(usize),
    /// Nearly black, for what has no order.
    Dark,
    /// Pale, for what was not resolved.
    Pale,
    /// White, for what was not computed.
    None,
}

/// P. Tol's muted scheme.
const CLASSES: [Rgb; 9] = [
    Rgb(0x33, 0x22, 0x88),
    Rgb(0xdd, 0xcc, 0x77),
    Rgb(0x44, 0xaa, 0x99),
    Rgb(0xcc, 0x66, 0x77),
    Rgb(0x88, 0xcc, 0xee),
    Rgb(0x11, 0x77, 0x33),
    Rgb(0xaa, 0x44, 0x99),
    Rgb(0x99, 0x99, 0x33),
    Rgb(0x88, 0x22, 0x55),
];

impl Tint {
    /// How many colours for classes there are.
    pub const CLASSES: usize = CLASSES.len();

    /// The colour.
    pub fn rgb(self) -> Rgb {
        match self {
            Tint::Number(k) => CLASSES[k % CLASSES.len()],
            Tint::Dark => Rgb(0x28, 0x28, 0x28),
            Tint::Pale => Rgb(0xd8, 0xd8, 0xd8),
            Tint::None => Rgb(255, 255, 255),
        }
    }
}

/// Okabe and Ito's colours for groups of dots; the first is black in print.
const DOTS: [Rgb; 7] = [
    Rgb(0, 0, 0),
    Rgb(0, 114, 178),
    Rgb(213, 94, 0),
    Rgb(0, 158, 115),
    Rgb(204, 121, 167),
    Rgb(86, 180, 233),
    Rgb(230, 159, 0),
];

/// The colour of a group of dots; on a page, which may be dark, black is a grey.
pub fn dot_colour(k: usize, on_page: bool) -> Rgb {
    match k % DOTS.len() {
        0 if on_page => Rgb(0x7d, 0x8a, 0x9c),
        k => DOTS[k],
    }
}

/// Some colours of the scheme `viridis`.
const SCALE: [Rgb; 9] = [
    Rgb(68, 1, 84),
    Rgb(71, 44, 122),
    Rgb(59, 81, 139),
    Rgb(44, 113, 142),
    Rgb(33, 144, 141),
    Rgb(39, 173, 129),
    Rgb(92, 200, 99),
    Rgb(170, 220, 50),
    Rgb(253, 231, 37),
];

/// Colours from blue over a pale yellow, which is not white, to red.
const SIGNS: [Rgb; 7] = [
    Rgb(49, 54, 149),
    Rgb(69, 117, 180),
    Rgb(160, 205, 225),
    Rgb(255, 250, 200),
    Rgb(253, 174, 97),
    Rgb(215, 48, 39),
    Rgb(150, 0, 38),
];

/// The colour of a share from 0 to 1.
pub fn scale_colour(share: f64) -> Rgb {
    mixed(&SCALE, share)
}

/// The colour of a share from −1 to 1.
pub fn sign_colour(share: f64) -> Rgb {
    mixed(&SIGNS, 0.5 + 0.5 * share)
}

fn mixed(scale: &[Rgb], share: f64) -> Rgb {
    let at = share.clamp(0.0, 1.0) * (scale.len() - 1) as f64;
    let k = (at as usize).min(scale.len() - 2);
    let (a, b, part) = (scale[k], scale[k + 1], at - k as f64);
    let mix = |a: u8, b: u8| (f64::from(a) + (f64::from(b) - f64::from(a)) * part).round() as u8;
    Rgb(mix(a.0, b.0), mix(a.1, b.1), mix(a.2, b.2))
}
