//! The summary of a run as text.

mod records;

use super::run::heading;
use crate::done::Done;
use crate::setup::Ready;
use crate::text::{BOLD, DIM, RED, YELLOW, count, duration, grouped, number, out, printable};
use saltus::analysis::{GroupSums, Probe, Shocks};
use saltus::structure::StructureFacts;
use saltus::{Model, Phase, PhaseKind, Run, Side, Status};
use std::io::IsTerminal;

/// How many impacts, shocks, contacts and notes the summary shows.
const SHOWN: usize = 8;

pub fn print(ready: &Ready, done: &Done) {
    let (run, model) = (&done.run, ready.opened.system.model());
    let reached = run.trajectory.t.last().copied().unwrap_or(run.start.t);
    out!("{BOLD}{}{BOLD:#}\n", printable(&model.title));
    out!("{DIM}{}, t = {} … {}{DIM:#}\n", heading(run), number(run.start.t, 6), number(reached, 6));
    if let Some(start) = &ready.assembled {
        out!("{DIM}assembled: starts at {start}{DIM:#}\n");
    }
    for note in &ready.notes {
        out!("{DIM}note: {}{DIM:#}\n", printable(note));
    }
    let setup = run.setup.as_secs_f64();
    let stepping = (done.wall_s - setup).max(0.0);
    let per_step = stepping / run.steps.max(1) as f64;
    let setup = setup + ready.opening_s;
    let before = if setup > 0.5 { format!(", after {} of set-up", duration(setup)) } else { String::new() };
    out!("{} in {}, {} per step{before}\n\n", count(run.steps, "step"), duration(stepping), duration(per_step));
    if let Some(facts) = &done.facts {
        structure(facts);
        records::print(model);
        out!("\n");
    }
    match &done.shocks {
        Some(found) => shocks(model, found),
        None => impacts(model, run),
    }
    phases(model, run);
    events(model, run);
    if done.shocks.is_none() {
        contacts(model, run);
    }
    if let Some(found) = &done.shocks {
        statistics(model, found, &done.run);
    }
    verification(model, run, done.facts.is_some());
    final_state(model, run);
    for note in run.notes.iter().take(SHOWN) {
        out!("{DIM}note: {}{DIM:#}\n", printable(note));
    }
    if run.notes.len() > SHOWN {
        out!("{DIM}… and {}{DIM:#}\n", count((run.notes.len() - SHOWN) as u64, "more note"));
    }
    for note in run.ledger.meeting_notes() {
        out!("{DIM}note: {}{DIM:#}\n", printable(&note));
    }
    // Breaches come last: see `verdict`.
    for warning in run.warnings.iter().filter(|w| !w.starts_with(BREACH)) {
        out!("{YELLOW}warning:{YELLOW:#} {}\n", printable(warning));
    }
    if let Some(sentence) = done.settled.sentence(model) {
        out!("{}\n", printable(&sentence));
    }
}

/// How the warnings begin that are breaches of the ledger.
const BREACH: &str = "breach: ";

/// The last lines of a run that did not simply finish: its breaches, how it ended. On standard error as well, unless both
/// are one terminal.
pub fn verdict(run: &Run, json: bool) {
    let mut lines: Vec<String> = run
        .warnings
        .iter()
        .filter(|w| w.starts_with(BREACH))
        .map(|w| format!("{RED}{}{RED:#}", printable(w)))
        .collect();
    if run.status != Status::Finished {
        let style = if matches!(run.status, Status::Interrupted { .. }) { YELLOW } else { RED };
        lines.push(format!("{style}{}{style:#}", printable(&run.status.to_string())));
    }
    if lines.is_empty() {
        return;
    }
    if !json {
        out!("\n{}\n", lines.join("\n"));
    }
    if json || !(std::io::stdout().is_terminal() && std::io::stderr().is_terminal()) {
        crate::text::complain(&lines.join("\n"));
    }
}

/// What a structure is, in a few lines.
pub fn structure(facts: &StructureFacts) {
    let massless = match facts.massless {
        0 => String::new(),
        n => format!(", {n} of them massless"),
    };
    let dofs = grouped(facts.dofs as u64);
    let degrees = if facts.dofs == 1 { "degree" } else { "degrees" };
    let solved = match facts.factor_entries {
        Some(entries) => format!("sparse factors of {} entries", grouped(entries as u64)),
        None => format!("half-bandwidth {}", facts.half_bandwidth),
    };
    out!("structure            {dofs} {degrees} of freedom{massless}, {solved}\n");
    let masses: Vec<String> = facts
        .masses
        .iter()
        .filter_map(|(name, m)| m.map(|m| format!("{} of {}", number(m, 5), printable(name))))
        .collect();
    if !masses.is_empty() {
        out!("mass                 {}\n", masses.join(", "));
    }
    let shown: Vec<String> = facts.frequencies.iter().take(5).map(|f| number(*f, 5)).collect();
    out!("frequencies          {} … Hz (units of the model)\n", shown.join(", "));
    if facts.rigid > 0 {
        let names: Vec<String> = facts.rigid_names.iter().map(|n| printable(n)).collect();
        out!("free to move         {}: {}\n", count(facts.rigid as u64, "rigid-body mode"), names.join(", "));
    }
}

/// Constraints and the impact law, and the energy account.
fn verification(model: &Model, run: &Run, structure: bool) {
    let audit = &run.audit;
    let instants = if run.by_events() { run.trajectory.len() as u64 } else { run.steps + 1 };
    let worst = match audit.worst {
        Some((a, t)) => {
            let (depth, t) = (number(audit.max_violation, 3), number(t, 6));
            let name = printable(&model.constraints[a].name);
            match audit.infeasible {
                0 => format!("{depth}, rounding  ({name} at t = {t})"),
                n => format!("{depth}  ({name} at t = {t}; {} of {} instants outside)", grouped(n), grouped(instants)),
            }
        }
        None => "none".to_string(),
    };
    out!("largest violation    {worst}\n");
    let has_impacts = !run.trajectory.impacts.is_empty();
    if has_impacts {
        // (Of a node of a mesh the elastic forces of its neighbours are part of what the steps of an impact do.)
        let within = match structure && !run.by_events() && audit.worst_law_residual > 1e-6 {
            true => "  (with what elastic forces do within the steps of an impact)",
            false => "",
        };
        out!("impact law residual  {}{DIM}{within}{DIM:#}\n", number(audit.worst_law_residual, 3));
    }
    if let Some((position, velocity)) = run.ledger.joint_residuals {
        out!("joint residual       {} in positions, {} in velocities\n", number(position, 2), number(velocity, 2));
    }
    let balance = &run.ledger.balance;
    // A structure has elastic energy, which no expression of its model shows.
    let has_potential = structure || model.potential.is_some();
    let what = if has_potential { "energy              " } else { "kinetic energy      " };
    let ended = rounded(audit.energy_end, audit.energy_start);
    out!("{what} {} → {}", number(audit.energy_start, 6), number(ended, 6));
    if has_impacts || balance.lost_at_impacts != 0.0 {
        // (With moving walls: what they do in the impacts is in the account below.)
        let lost = rounded(balance.dissipated_at_impacts, balance.exchanged);
        let word = match (lost < 0.0, model.has_moving_constraints()) {
            (true, _) => "gained",
            (false, true) => "dissipated",
            (false, false) => "lost",
        };
        out!("   {word} at impacts: {}", number(lost.abs(), 6));
    }
    out!("\n");
    let work = rounded(balance.work, balance.exchanged);
    let residual = number(balance.relative(), 2);
    let walls = match model.has_moving_constraints() {
        true => {
            let (contact, impacts) = (balance.wall_work, balance.wall_work_at_impacts);
            let (contact, impacts) = (rounded(contact, balance.exchanged), rounded(impacts, balance.exchanged));
            format!(", of moving walls {} in contact and {} at impacts", number(contact, 6), number(impacts, 6))
        }
        false => String::new(),
    };
    let heat = match model.frictions.is_empty() {
        true => String::new(),
        false => format!(", heat of friction {}", number(rounded(balance.friction, balance.exchanged), 6)),
    };
    out!("energy account       work of the forces {}{walls}{heat}, relative residual {residual}\n", number(work, 6));
}

fn final_state(model: &Model, run: &Run) {
    let Some(k) = run.trajectory.len().checked_sub(1) else { return };
    let moving: Vec<usize> = run.trajectory.displacements().collect();
    let shown = moving.len().min(6);
    let (far, fast) = (run.trajectory.reach(), run.trajectory.fastest());
    // A moment of enormous velocity, from a step that blew up, does not make the others rounding.
    let span = run.trajectory.span().map_or(0.0, |(first, last)| last - first);
    let fast = if span > 0.0 { fast.min(1e6 * far / span) } else { fast };
    let (q, v) = (run.trajectory.q(k), run.trajectory.v(k, Side::Right));
    let state: Vec<String> = moving[..shown]
        .iter()
        .map(|&i| {
            let (q, v) = (number(rounded(q[i], far), 6), number(rounded(v[i], fast), 6));
            format!("{} = {q} ({v})", printable(&model.coordinates[i]))
        })
        .collect();
    let more = if shown < moving.len() { ", …" } else { "" };
    out!("final state          {}{more}  {DIM}position (velocity){DIM:#}\n", state.join(", "));
    let states: Vec<String> = (model.states.iter().zip(run.trajectory.states(k)).take(6))
        .map(|(state, z)| format!("{} = {}", printable(&state.name), number(*z, 6)))
        .collect();
    if !states.is_empty() {
        let more = if states.len() < model.states.len() { ", …" } else { "" };
        out!("states               {}{more}\n", states.join(", "));
    }
}

/// Zero where a number is only what rounding left of `scale`; the files keep every digit.
fn rounded(x: f64, scale: f64) -> f64 {
    if x.abs() < 1e-13 * scale.abs() { 0.0 } else { x }
}

/// A heading `17 impacts, the first 8:`.
fn heading_of(n: usize, word: &str) {
    let more = if n > SHOWN { format!(", the first {SHOWN}:") } else { ":".into() };
    out!("{BOLD}{}{BOLD:#}{more}\n", count(n as u64, word));
}

/// A line `… and 3 more contacts`, where not all are shown.
fn more_of(n: usize, word: &str) {
    if n > SHOWN {
        out!("… and {}\n", count((n - SHOWN) as u64, &format!("more {word}")));
    }
}

fn impacts(model: &Model, run: &Run) {
    let all = &run.trajectory.impacts;
    if model.constraints.is_empty() {
        let what =
            if model.has_joints_or_friction() { "no one-sided constraints" } else { "no constraints: free motion" };
        out!("{what}\n\n");
        return;
    }
    if all.is_empty() {
        out!("{BOLD}no impacts{BOLD:#}\n\n");
        return;
    }
    heading_of(all.len(), "impact");
    let names: Vec<String> = all
        .iter()
        .take(SHOWN)
        .map(|i| i.constraints.iter().map(|&a| printable(&model.constraints[a].name)).collect::<Vec<_>>().join(" + "))
        .map(|name| if name.chars().count() > 32 { name.chars().take(31).chain(['…']).collect() } else { name })
        .collect();
    let width = names.iter().map(|n| n.chars().count()).max().unwrap_or(0).max(10);
    out!("{DIM}       time         {:width$}  approach     impulse      energy change{DIM:#}\n", "constraint");
    for (k, (impact, name)) in all.iter().zip(&names).enumerate() {
        let impulse: f64 = impact.impulses.iter().sum();
        out!(
            "{:>4}   {:<11}  {name:width$}  {:<11}  {:<11}  {}\n",
            k + 1,
            number(impact.t, 7),
            number(-impact.approach, 5),
            number(impulse, 5),
            number(impact.energy_change, 5)
        );
    }
    out!("\n");
}

fn shocks(model: &Model, shocks: &Shocks) {
    if shocks.list.is_empty() {
        out!("{BOLD}no shocks{BOLD:#}\n\n");
        return;
    }
    heading_of(shocks.list.len(), "shock");
    let width = model.constraints.iter().map(|c| c.name.chars().count()).max().unwrap_or(0).max(6);
    let forces = if shocks.list.iter().any(|s| s.peak.is_some()) { "  peak force" } else { "" };
    out!(
        "{DIM}       time         {:width$}  duration     impulse      speed        rebounds{forces}{DIM:#}\n",
        "stop"
    );
    for (k, s) in shocks.list.iter().take(SHOWN).enumerate() {
        out!(
            "{:>4}   {:<11}  {:width$}  {:<11}  {:<11}  {:<11}  {}\n",
            k + 1,
            number(s.start, 7),
            printable(&model.constraints[s.stop].name),
            number(s.end - s.start, 4),
            number(s.impulse, 5),
            number(s.speed, 5),
            s.peak.map_or(s.rebounds.to_string(), |p| format!("{:<8}  {}", s.rebounds, number(p, 5)))
        );
    }
    out!("\n");
}

fn statistics(model: &Model, shocks: &Shocks, run: &Run) {
    let extremes = &run.extremes;
    let hit = || shocks.stops.iter().zip(&model.constraints).filter(|(s, _)| s.count > 0);
    for (stop, c) in hit().take(SHOWN) {
        let spread = |(max, mean, deviation): (f64, f64, f64)| {
            format!("{} largest, {} mean, {} deviation", number(max, 4), number(mean, 4), number(deviation, 3))
        };
        let (name, shocks) = (printable(&c.name), count(stop.count as u64, "shock"));
        out!("{name:<20} {shocks} {DIM}(impulse: {}){DIM:#}\n", spread(stop.impulse));
        out!("                     {DIM}speed:{DIM:#} {}\n", spread(stop.speed));
        out!(
            "                     {DIM}in contact for{DIM:#} {}{DIM}, mean force{DIM:#} {}",
            number(stop.contact_time, 4),
            number(stop.mean_force, 4)
        );
        if let Some(peaks) = stop.peak_force {
            out!("{DIM}, peaks:{DIM:#} {}", spread(peaks));
        }
        if let Some(rms) = stop.rms_force {
            out!("{DIM}, rms{DIM:#} {}", number(rms, 4));
        }
        if let Some(wear) = stop.wear_power {
            out!("{DIM}, wear power{DIM:#} {}", number(wear, 4));
        }
        out!("\n");
        if let Some(friction) = stop.friction {
            out!(
                "                     {DIM}friction: heat{DIM:#} {}{DIM}, slid{DIM:#} {} {DIM}in{DIM:#} {}{DIM}, stuck for{DIM:#} {}\n",
                number(friction.work, 4),
                number(friction.distance, 4),
                number(friction.slid, 4),
                number(friction.stuck, 4)
            );
        }
    }
    more_of(hit().count(), "stop");
    shocks.groups.iter().for_each(group);
    let quiet: Vec<String> = (shocks.stops.iter().zip(&model.constraints))
        .filter(|(stop, _)| stop.count == 0)
        .map(|(_, c)| printable(&c.name))
        .collect();
    if !quiet.is_empty() {
        let more =
            if quiet.len() > 2 * SHOWN { format!(", … and {} more", quiet.len() - 2 * SHOWN) } else { String::new() };
        out!("never hit            {}{more}\n", quiet[..quiet.len().min(2 * SHOWN)].join(", "));
    }
    let points = || extremes.iter().zip(&model.coordinates).enumerate().filter(|(p, _)| !run.trajectory.is_force(*p));
    for (_, (x, name)) in points().take(SHOWN) {
        let (min, max, rms) = (number(x.min, 5), number(x.max, 5), number(x.rms, 4));
        out!("{:<20} {min} … {max}, rms {rms}\n", printable(name));
    }
    more_of(points().count(), "point");
    for shear in run.shears.iter().take(SHOWN) {
        let name = printable(&model.coordinates[shear.point]);
        let (min, max) = (number(shear.min, 5), number(shear.max, 5));
        let elastic = extremes.get(shear.point).map_or(String::new(), |x| {
            format!(
                "{DIM}; elastic forces alone{DIM:#} {} … {}, rms {}",
                number(x.min, 5),
                number(x.max, 5),
                number(x.rms, 4)
            )
        });
        out!("{name:<20} {DIM}base shear, a force:{DIM:#} {min} … {max} {DIM}with damping{DIM:#}{elastic}\n");
    }
}

/// Sums over a group of stops.
fn group(sums: &GroupSums) {
    let (name, shocks) = (printable(&sums.name), count(sums.count as u64, "shock"));
    let stops = count(sums.stops.len() as u64, "stop");
    out!("{name:<20} {DIM}all{DIM:#} {stops}{DIM}:{DIM:#} {shocks}{DIM}, impulse{DIM:#} {}", number(sums.impulse, 4));
    out!("{DIM}, in contact for{DIM:#} {}", number(sums.contact_time, 4));
    out!("{DIM}, mean force{DIM:#} {}", number(sums.mean_force, 4));
    let more = [
        ("largest force", sums.peak_force),
        ("wear power", sums.wear_power),
        ("friction: heat", sums.friction.map(|f| f.0)),
        ("slid", sums.friction.map(|f| f.1)),
    ];
    for (what, value) in more {
        if let Some(value) = value {
            out!("{DIM}, {what}{DIM:#} {}", number(value, 4));
        }
    }
    out!("\n");
}

/// Where impacts accumulated, and where something grazed.
fn phases(model: &Model, run: &Run) {
    let names = |phase: &Phase| {
        let names = phase.constraints.iter().map(|&a| printable(&model.constraints[a].name));
        names.collect::<Vec<_>>().join(" and ")
    };
    let all: Vec<&Phase> = run.timeline.of(PhaseKind::Chatter).collect();
    for phase in all.iter().take(SHOWN) {
        out!(
            "{BOLD}bounced {} on {}{BOLD:#} at ever shorter intervals; in contact from {BOLD}t = {}{BOLD:#} on  {DIM}(limit ± {}){DIM:#}\n",
            count(phase.impacts as u64, "time"),
            names(phase),
            number(phase.end, 10),
            number(phase.error, 1)
        );
    }
    more_of(all.len(), "accumulation");
    let grazes: Vec<&Phase> = run.timeline.of(PhaseKind::Graze).collect();
    for phase in grazes.iter().take(SHOWN) {
        out!("grazed {} at t = {}\n", names(phase), number(phase.start, 8));
    }
    more_of(grazes.len(), "graze");
    let friction = friction_phases(model, run);
    if !all.is_empty() || !grazes.is_empty() || friction {
        out!("\n");
    }
}

/// Where each friction sticks and slides; false where nothing is said.
fn friction_phases(model: &Model, run: &Run) -> bool {
    let all: Vec<&Phase> = run.timeline.phases.iter().filter(|p| p.kind.is_of_friction()).collect();
    let mut said = false;
    for friction in model.frictions.iter().take(SHOWN) {
        let own: Vec<&&Phase> = all.iter().filter(|p| p.note == friction.name).collect();
        if own.is_empty() {
            continue;
        }
        let times = own.iter().take(SHOWN).enumerate().map(|(k, p)| {
            let verb = match p.kind {
                PhaseKind::Stick => "sticks from",
                PhaseKind::Reversal => "reverses at",
                // (Its contact was open in between.)
                _ if k > 0 && own[k - 1].kind != PhaseKind::Stick => "slips again from",
                _ => "slips from",
            };
            format!("{verb} {}{}", if k == 0 { "t = " } else { "" }, number(p.start, 6))
        });
        let more = if own.len() > SHOWN { format!(", … ({} changes)", own.len()) } else { String::new() };
        let name = printable(&friction.name);
        out!("{BOLD}friction of {name}{BOLD:#}: {}{more}\n", times.collect::<Vec<_>>().join(", "));
        said = true;
    }
    said
}

/// Events of the user's own.
fn events(model: &Model, run: &Run) {
    let all = &run.trajectory.events;
    if model.events.is_empty() {
        return;
    }
    for (k, event) in model.events.iter().enumerate() {
        let times: Vec<f64> = all.iter().filter(|e| e.event == k).map(|e| e.t).collect();
        let shown: Vec<String> = times.iter().take(SHOWN).map(|t| number(*t, 8)).collect();
        let at = if shown.is_empty() { String::new() } else { format!(": t = {}", shown.join(", ")) };
        let more = if times.len() > SHOWN { ", …" } else { "" };
        out!("event {} occurred {}{at}{more}\n", printable(&event.name), count(times.len() as u64, "time"));
    }
    out!("\n");
}

fn contacts(model: &Model, run: &Run) {
    let all = &run.trajectory.contacts;
    for contact in all.iter().take(SHOWN) {
        let last = run.trajectory.t.last().copied().unwrap_or(0.0);
        let until = if contact.end >= last { "the end".to_string() } else { format!("t = {}", number(contact.end, 6)) };
        let name = printable(&model.constraints[contact.constraint].name);
        let (start, impulse) = (number(contact.start, 6), number(contact.impulse, 5));
        out!("contact with {name} from t = {start} to {until}  {DIM}impulse {impulse}{DIM:#}\n");
    }
    more_of(all.len(), "contact");
    if run.audit.landings > 0 {
        let landings = count(run.audit.landings, "landing");
        out!("{DIM}{landings} too slow to distinguish from lasting contact at this step{DIM:#}\n");
    }
    if !all.is_empty() || run.audit.landings > 0 {
        out!("\n");
    }
}

/// What an ensemble of perturbed starts showed.
pub fn probe(ready: &Ready, probe: &Probe) {
    out!("\n{BOLD}probe{BOLD:#}  {}\n", probe.sentence);
    if let Some((k, t)) = probe.parting {
        out!("       they part at impact {k}, t = {}\n", number(t, 6));
    }
    for (n, q) in probe.groups.iter().take(6).filter(|_| probe.splits) {
        let ends: Vec<String> = q
            .iter()
            .take(6)
            .enumerate()
            .map(|(i, x)| format!("{} = {}", ready.opened.system.model().unknown(i), number(*x, 5)))
            .collect();
        out!("       {} about {}\n", count(*n as u64, "run"), ends.join(", "));
    }
    if probe.failed > 0 {
        out!("       {} did not finish\n", count(probe.failed as u64, "run"));
    }
}
