use saltus_expr::Graph;

use crate::common::node;

#[test]
fn corners_and_their_symbols() {
    let mut g = Graph::new();
    let [x, y] = ["x", "y"].map(|name| g.symbol(name));
    for (text, smooth, free_of_x) in [
        ("x*sin(y)", true, true),
        ("x*abs(y)", false, true),
        ("abs(x)", false, false),
        ("if(y > 0, x, 2*x)", false, true),
        ("if(x > 0, y, 2*y)", false, false),
        ("min(y, y + x)", false, false),
        ("hypot(x, y)", true, true),
    ] {
        let n = node(&mut g, text);
        assert_eq!((g.is_smooth(n), g.corners_are_free_of(n, &[x])), (smooth, free_of_x), "{text}");
        assert!(!g.depends_on_any(n, &[]));
        assert!(g.depends_on(n, y) == text.contains('y'), "{text}");
    }
}
