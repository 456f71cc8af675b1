//! Fuses pairs of operations to save instructions. Results are bit-identical, except that `c*(1/d)`
//! becomes `c/d` and rounds once less.

use super::{CONSTANT, Draft, Op, operands};

pub(super) fn fuse(draft: &mut Draft) {
    let inputs = draft.inputs as u32;
    let mut uses = vec![0_u32; draft.code.len()];
    let at = |register: u32| (register & CONSTANT == 0 && register >= inputs).then(|| (register - inputs) as usize);
    let read = draft.code.iter().flat_map(operands);
    for k in read.chain(draft.outputs.iter().copied()).filter_map(at) {
        uses[k] += 1;
    }
    let mut dropped = vec![false; draft.code.len()];
    for k in 0..draft.code.len() {
        let mut code = draft.code[k];
        // The instruction that computes an operand, if it has no other use.
        let sole = |register: u32| at(register).filter(|&k| uses[k] == 1);
        let maker = |register: u32, op: Op| sole(register).filter(|&k| draft.code[k].op == op);
        let absorbed = match code.op {
            Op::Mul => {
                let found = maker(code.b, Op::Div).map(|j| (j, code.a)).or(maker(code.a, Op::Div).map(|j| (j, code.b)));
                let found = found.filter(|&(j, _)| is_one(draft, draft.code[j].a));
                if let Some((j, other)) = found {
                    (code.op, code.a, code.b) = (Op::Div, other, draft.code[j].b);
                }
                found.map(|(j, _)| j)
            }
            Op::Add | Op::Sub => {
                let second = maker(code.b, Op::Mul);
                let first = maker(code.a, Op::Mul);
                if let Some(j) = second {
                    let op = if code.op == Op::Add { Op::MulAdd } else { Op::SubMul };
                    (code.op, code.c) = (op, code.a);
                    (code.a, code.b) = (draft.code[j].a, draft.code[j].b);
                    Some(j)
                } else if let Some(j) = first {
                    let op = if code.op == Op::Add { Op::MulAdd } else { Op::MulSub };
                    (code.op, code.c) = (op, code.b);
                    (code.a, code.b) = (draft.code[j].a, draft.code[j].b);
                    Some(j)
                } else {
                    None
                }
            }
            _ => None,
        };
        if let Some(j) = absorbed {
            dropped[j] = true;
            draft.code[k] = code;
        }
    }
    // Targets keep their numbers: register allocation maps them.
    let mut keep = dropped.iter().map(|dropped| !dropped);
    draft.code.retain(|_| keep.next().unwrap_or(true));
}

fn is_one(draft: &Draft, register: u32) -> bool {
    register & CONSTANT != 0 && draft.constants[(register & !CONSTANT) as usize] == 1.0
}
