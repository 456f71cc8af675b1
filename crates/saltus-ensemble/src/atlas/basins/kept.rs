//! What is known of basins while they are computed, on the disk: `basins.part`, to go on with after an interruption.
//!
//! The file is a line of JSON (what was asked for, the attractors that are known) and the labels of all starts as they are in memory. It is
//! written after whole parts of the starts only, so that basins that were interrupted are the same in the end, byte for byte.

use super::BasinPlan;
use super::attractor::Known;
use super::extent::Extent;
use super::hunt::{Memory, OPEN};
use saltus::SetupError;
use saltus_io::output::write_file;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::path::Path;

/// The name of the file.
const NAME: &str = "basins.part";

/// What is known.
pub struct Kept {
    /// Which list of starts is next.
    pub pass: usize,
    /// The starts of the present one that are still to be computed.
    pub waiting: VecDeque<u32>,
    pub labels: Vec<u16>,
    pub computed: Vec<bool>,
    pub memory: Memory,
}

/// The first line of the file.
#[derive(Serialize, Deserialize)]
struct Head {
    refine: bool,
    most: u64,
    starts: usize,
    pass: usize,
    waiting: usize,
    memory: Memory,
}

/// Whether basins were begun in a directory and not finished.
pub fn is_begun(dir: &Path) -> bool {
    dir.join(NAME).exists()
}

/// Removes what was kept of basins that are finished.
pub fn forget(dir: &Path) {
    // (A file that stays does no harm: the basins are there.)
    let _ = std::fs::remove_file(dir.join(NAME));
}

impl Kept {
    /// Nothing is known yet.
    pub fn new(starts: usize) -> Self {
        let memory = Memory { extent: Extent::default(), known: Vec::<Known>::new(), quiet: 0 };
        let (labels, computed) = (vec![OPEN; starts], vec![false; starts]);
        Kept { pass: 0, waiting: VecDeque::new(), labels, computed, memory }
    }

    /// Writes it into a directory.
    pub fn write(&self, dir: &Path, plan: &BasinPlan) -> Result<(), SetupError> {
        let head = Head {
            refine: plan.refine,
            most: plan.most,
            starts: self.labels.len(),
            pass: self.pass,
            waiting: self.waiting.len(),
            memory: self.memory.clone(),
        };
        let written = write_file(&dir.join(NAME), |out| {
            serde_json::to_writer(&mut *out, &head)?;
            out.write_all(b"\n")?;
            out.write_all(&self.labels.iter().flat_map(|l| l.to_le_bytes()).collect::<Vec<u8>>())?;
            out.write_all(&self.computed.iter().map(|c| u8::from(*c)).collect::<Vec<u8>>())?;
            out.write_all(&self.waiting.iter().flat_map(|p| p.to_le_bytes()).collect::<Vec<u8>>())
        });
        written.map_err(|e| {
            SetupError::new(e.to_string()).help("the results so far are saved: --resume continues from there")
        })
    }

    /// Reads it back from a directory; nothing is known where it was ended before anything was kept.
    pub fn read(dir: &Path, plan: &BasinPlan) -> Result<Self, SetupError> {
        let path = dir.join(NAME);
        let starts = plan.sweep.family.len() as usize;
        if !path.exists() {
            return Ok(Kept::new(starts));
        }
        let fail = |why: &str| {
            SetupError::new(format!("cannot read `{}`: {why}", path.display()))
                .help("remove this file, and the basins begin again")
        };
        let bytes = std::fs::read(&path).map_err(|e| fail(&e.to_string()))?;
        let end = bytes.iter().position(|b| *b == b'\n').ok_or_else(|| fail("it is damaged"))?;
        let head: Head = serde_json::from_slice(&bytes[..end]).map_err(|e| fail(&format!("it is damaged ({e})")))?;
        let body = &bytes[end + 1..];
        if head.starts != starts || body.len() != 3 * starts + 4 * head.waiting {
            return Err(fail("it is damaged, or of other basins"));
        }
        let asked = |refine: bool, most: u64| format!("--periods {most}{}", if refine { " --refine" } else { "" });
        if (head.refine, head.most) != (plan.refine, plan.most) {
            let (was, is) = (asked(head.refine, head.most), asked(plan.refine, plan.most));
            return Err(SetupError::new(format!("these basins were begun with {was}, and this is {is}"))
                .help("give the same options as before, or another directory"));
        }
        let (labels, rest) = body.split_at(2 * starts);
        let (computed, waiting) = rest.split_at(starts);
        let waiting: VecDeque<u32> =
            waiting.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
        let labels: Vec<u16> = labels.chunks_exact(2).map(|b| u16::from_le_bytes([b[0], b[1]])).collect();
        let known = head.memory.known.len();
        let is_known = |l: &u16| (*l as usize) < known || *l >= OPEN;
        if waiting.iter().any(|p| *p as usize >= starts) || !labels.iter().all(is_known) {
            return Err(fail("it is damaged"));
        }
        let computed = computed.iter().map(|b| *b != 0).collect();
        Ok(Kept { pass: head.pass, waiting, labels, computed, memory: head.memory })
    }
}
