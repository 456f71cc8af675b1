//! Thinned curves keep their extrema and jumps.

use saltus_report::{Limit, Thinner, largest};

#[test]
fn a_short_curve_is_kept_and_broken_at_a_jump() {
    let mut thin = Thinner::<1>::new(4, (0.0, 3.0), Limit::default());
    thin.push(0.0, [0.0]);
    thin.push(1.0, [-1.0]);
    thin.jump(2.0, [-2.0], [1.0]);
    thin.push(3.0, [1.5]);
    let line = thin.finish();
    assert_eq!(line.t, [0.0, 1.0, 2.0, 2.0, 2.0, 3.0]);
    assert_eq!(line.segments(), [0..3, 4..6]);
    assert_eq!((line.shown(), line.given, line.jumps.len()), (4, 4, 1));
    let jump = &line.jumps[0];
    assert_eq!((jump.t, jump.left, jump.right), (2.0, [-2.0], [1.0]));
}

#[test]
fn thinning_keeps_extrema_ends_and_jumps() {
    let n = 200_000;
    let limit = Limit { points: 400, jumps: 100 };
    let mut thin = Thinner::<1>::new(n, (0.0, 1.0), limit);
    let value = |k: usize| {
        if k == 77_777 {
            9.0
        } else if k == 123_456 {
            -8.0
        } else {
            (k as f64 * 0.01).sin()
        }
    };
    for k in 0..n {
        let t = k as f64 / (n - 1) as f64;
        match k % 20_011 {
            20_010 => thin.jump(t, [value(k)], [-value(k)]),
            _ => thin.push(t, [value(k)]),
        }
    }
    let line = thin.finish();
    assert!(line.t.len() < 400 + 60, "{}", line.t.len());
    assert!(line.y[0].contains(&9.0) && line.y[0].contains(&-8.0));
    assert_eq!((line.t[0], *line.t.last().expect("some")), (0.0, 1.0));
    assert_eq!(line.jumps.len(), n / 20_011);
    for jump in &line.jumps {
        let at = line.t.iter().position(|&t| t == jump.t).expect("there");
        assert_eq!(line.t[at + 2], jump.t);
        assert_eq!((line.y[0][at], line.y[0][at + 2]), (jump.left[0], jump.right[0]));
        assert!(line.y[0][at + 1].is_nan());
    }
    assert!(line.t.windows(2).all(|w| w[0] <= w[1]));
}

#[test]
fn the_largest_event_in_each_interval_is_kept() {
    let events: Vec<(f64, f64)> = (0..10_000).map(|k| (k as f64, if k == 5_555 { 100.0 } else { 1.0 })).collect();
    let kept = largest(&events, 50);
    assert!(kept.len() <= 50 && kept.contains(&5_555));
    assert_eq!(largest(&events[..7], 50), (0..7).collect::<Vec<_>>());
}
