//! Binary data as text: a zlib stream in base 85, which the page's script unpacks (`unpack` in `assets/page.js`).
//!
//! Also compiled into the build script, which packs plotly.js.

/// Packs bytes into text that is safe inside a script element; `level` is that of zlib, 0 to 9.
pub fn pack(bytes: &[u8], level: u8) -> String {
    base85(&miniz_oxide::deflate::compress_to_vec_zlib(bytes, level))
}

/// Encodes four bytes as five characters from `(` to `|`, with `}` instead of `<`, so that the text cannot contain a tag. A last
/// group of n bytes becomes n + 1 characters. The text is 25 % longer than the bytes; base 64 would be 33 % longer.
fn base85(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() / 4 * 5 + 5);
    for chunk in bytes.chunks(4) {
        let mut group = [0; 4];
        group[..chunk.len()].copy_from_slice(chunk);
        let word = u32::from_be_bytes(group);
        for power in [85 * 85 * 85 * 85, 85 * 85 * 85, 85 * 85, 85, 1].into_iter().take(chunk.len() + 1) {
            out.push(match (word / power % 85) as u8 + b'(' {
                b'<' => '}',
                c => char::from(c),
            });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The inverse of `base85`, as in the page's script.
    fn bytes(text: &str) -> Vec<u8> {
        let digit = |c: u8| u32::from(if c == b'}' { b'<' } else { c } - b'(');
        let group = |chunk: &[u8]| {
            let digits = (0..5).map(|k| chunk.get(k).map_or(84, |&c| digit(c)));
            let word = digits.fold(0, |word, digit| 85 * word + digit);
            word.to_be_bytes().into_iter().take(chunk.len() - 1).collect::<Vec<u8>>()
        };
        text.as_bytes().chunks(5).flat_map(group).collect()
    }

    #[test]
    fn packed_bytes_can_be_unpacked_and_do_not_contain_markup() {
        let noise = |n: u32| n.wrapping_mul(2_654_435_761).to_be_bytes();
        for length in 0..200 {
            let given: Vec<u8> = (0..length).flat_map(noise).take(length as usize * 3).collect();
            assert_eq!(bytes(&base85(&given)), given);
            let packed = pack(&given, 6);
            assert!(packed.bytes().all(|c| c.is_ascii_graphic() && c != b'<' && c != b'&'));
            let unpacked = miniz_oxide::inflate::decompress_to_vec_zlib(&bytes(&packed));
            assert_eq!(unpacked.expect("a zlib stream"), given);
        }
        assert_eq!(bytes(&base85(&[255; 7])), [255; 7]);
    }
}
