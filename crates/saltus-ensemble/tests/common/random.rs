//! Models drawn at random.

use saltus::model::Builder;

/// Numbers in [0, 1) that look random (SplitMix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn between(&mut self, a: f64, b: f64) -> f64 {
        a + (b - a) * self.next()
    }
}

/// One to three coupled masses with polynomial springs, damping, harmonic forces, walls that may move or be curved.
pub fn random_model(random: &mut Random) -> Builder {
    let d = 1 + (3.0 * random.next()) as usize;
    let names = ["x", "y", "z"];
    let mut model = Builder::new("random");
    let mut kinetic = Vec::new();
    for i in 0..d {
        model = model.coordinate(names[i], random.between(-0.1, 0.1), random.between(-0.5, 0.5));
        kinetic.push(format!("{}*{}'^2/2", random.between(0.5, 2.0), names[i]));
    }
    if d > 1 && random.next() < 0.5 {
        // An inertia that varies.
        kinetic.push(format!("{}*x'*y'*cos(x - y)", random.between(0.05, 0.2)));
    }
    model = model.kinetic(kinetic.join(" + ").as_str()).parameter("w", random.between(0.6, 1.6));
    for i in 0..d {
        let x = names[i];
        let mut force = format!(
            "{}*cos(w*t + {i}) - {}*{x}' - {}*{x} - {}*{x}^3",
            random.between(0.2, 1.5),
            random.between(0.05, 0.4),
            random.between(0.3, 2.0),
            random.between(0.0, 1.0)
        );
        if i > 0 {
            force += &format!(" - {}*({x} - {})", random.between(0.0, 1.0), names[i - 1]);
        }
        model = model.force(x, force.as_str());
    }
    model = model.restitution(random.between(0.0, 0.9));
    let wall = random.between(0.2, 0.8);
    let gap = match (6.0 * random.next()) as usize {
        0 => format!("{wall} - x + 0.1*sin(t)"),
        1 => format!("{wall} - x - 0.2*x^2"),
        2 => format!("{wall} - sin(x)"),
        _ => format!("{wall} - x"),
    };
    model = model.constraint("wall", gap.as_str());
    if d > 1 && random.next() < 0.5 {
        model = model.constraint("pair", format!("{} - (y - x)", random.between(0.3, 0.9)).as_str());
    }
    model
}

/// The same with springs and dampers that are linear, a coupled inertia, two harmonics, walls that are plane and may move: exact flow.
pub fn random_linear_model(random: &mut Random) -> Builder {
    let d = 1 + (3.0 * random.next()) as usize;
    let names = ["x", "y", "z"];
    let mut model = Builder::new("random").parameter("w", random.between(0.6, 1.6));
    let mut kinetic = Vec::new();
    for i in 0..d {
        model = model.coordinate(names[i], random.between(-0.1, 0.1), random.between(-0.5, 0.5));
        kinetic.push(format!("{}*{}'^2/2", random.between(0.5, 2.0), names[i]));
    }
    if d > 1 && random.next() < 0.5 {
        kinetic.push(format!("{}*x'*y'", random.between(0.05, 0.4)));
    }
    model = model.kinetic(kinetic.join(" + ").as_str());
    for i in 0..d {
        let x = names[i];
        let mut force = format!(
            "{}*cos(w*t + {i}) + {}*sin(2.3*t) - {} - {}*{x}' - {}*w*{x}",
            random.between(0.2, 1.5),
            random.between(0.0, 0.3),
            random.between(-0.2, 0.2),
            random.between(0.0, 0.4),
            random.between(0.0, 4.0)
        );
        if i > 0 {
            force += &format!(" - {}*({x} - {})", random.between(0.0, 5.0), names[i - 1]);
        }
        model = model.force(x, force.as_str());
    }
    model = model.restitution(random.between(0.0, 1.0));
    let wall = random.between(0.2, 0.8);
    let gap = if random.next() < 0.3 { format!("{wall} - x + 0.1*sin(w*t)") } else { format!("{wall} - x") };
    model = model.constraint("wall", gap.as_str());
    if random.next() < 0.5 {
        model = model.constraint("other", format!("{} + x", random.between(0.3, 0.9)).as_str());
    }
    if d > 1 && random.next() < 0.5 {
        model = model.constraint("pair", format!("{} - (y - x)", random.between(0.3, 0.9)).as_str());
    }
    model
}
