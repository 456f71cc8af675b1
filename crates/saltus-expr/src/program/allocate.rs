//! Register allocation: a register is reused as soon as its value is dead, so that the registers of
//! many lanes fit into the first-level cache.

use super::{CONSTANT, Draft, Instruction, Program, operands};

pub(super) fn allocate(draft: Draft) -> Program {
    let inputs = draft.inputs as u32;
    let (constants, renumber) = used_constants(&draft);
    let fixed = inputs + constants.len() as u32;
    let made = draft.code.last().map_or(0, |i| i.target - inputs + 1) as usize;

    // The position after which a value is dead; outputs never die.
    let mut last_use = vec![0_usize; made];
    let temporary =
        |register: u32| (register & CONSTANT == 0 && register >= inputs).then(|| (register - inputs) as usize);
    for (k, instruction) in draft.code.iter().enumerate() {
        for value in operands(instruction).filter_map(temporary) {
            last_use[value] = k;
        }
    }
    for value in draft.outputs.iter().copied().filter_map(temporary) {
        last_use[value] = usize::MAX;
    }

    let mut place = vec![0_u32; made];
    let mut free = Vec::new();
    let mut registers = fixed;
    let final_place = |register: u32, place: &[u32]| match temporary(register) {
        Some(value) => place[value],
        None if register & CONSTANT != 0 => inputs + renumber[(register & !CONSTANT) as usize],
        None => register,
    };
    let mut instructions = Vec::with_capacity(draft.code.len());
    for (k, old) in draft.code.iter().enumerate() {
        let mut new = *old;
        for (slot, value) in [&mut new.a, &mut new.b, &mut new.c].into_iter().zip(operands(old)) {
            *slot = final_place(value, &place);
        }
        // Operands are read before the target is written, so that it may reuse the register of one.
        let mut dying: Vec<usize> = operands(old).filter_map(temporary).filter(|&value| last_use[value] == k).collect();
        dying.sort_unstable();
        dying.dedup();
        free.extend(dying.into_iter().map(|value| place[value]));
        new.target = free.pop().unwrap_or_else(|| {
            registers += 1;
            registers - 1
        });
        place[(old.target - inputs) as usize] = new.target;
        instructions.push(new);
    }
    Program {
        inputs: draft.inputs,
        outputs: draft.outputs.iter().map(|&register| final_place(register, &place)).collect(),
        constants,
        tables: draft.tables,
        instructions,
        registers: registers as usize,
    }
}

/// The constants that the code reads after fusion, and their new numbers.
fn used_constants(draft: &Draft) -> (Vec<f64>, Vec<u32>) {
    let mut used = vec![false; draft.constants.len()];
    let read = draft.code.iter().flat_map(|i: &Instruction| operands(i));
    for register in read.chain(draft.outputs.iter().copied()) {
        if register & CONSTANT != 0 {
            used[(register & !CONSTANT) as usize] = true;
        }
    }
    let mut constants = Vec::new();
    let mut renumber = vec![0; used.len()];
    for (k, _) in used.iter().enumerate().filter(|(_, used)| **used) {
        renumber[k] = constants.len() as u32;
        constants.push(draft.constants[k]);
    }
    (constants, renumber)
}
