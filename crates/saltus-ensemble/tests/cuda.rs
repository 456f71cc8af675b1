//! CUDA sources are taken by NVIDIA's own compiler, where it is: it needs no GPU. (With `SALTUS_NEED_NVRTC` it has to be there.)

use saltus::Problem;
use saltus_ensemble::{Native, Request};
use saltus_io::shipped;

/// Whether the source of a problem was compiled: not without the compiler, and not where lanes do not compute the model.
fn is_compiled(name: &str, problem: &Problem, scheme: Option<&str>) -> bool {
    if let Err(why) = Native::cuda_for(problem, scheme) {
        println!("{name}: {why}");
        return false;
    }
    let found = Native::cuda_compiles(problem, scheme);
    match &found {
        Some(found) => assert_eq!(found, &Ok(()), "{name}"),
        None => assert!(std::env::var_os("SALTUS_NEED_NVRTC").is_none(), "NVIDIA's run-time compiler is not there"),
    }
    found.is_some()
}

#[test]
fn nvidia_s_compiler_takes_the_sources() {
    let mut count = 0;
    for &(name, _) in shipped::MODELS {
        let opened = shipped::find(name).expect("shipped").expect("parses").system().expect("valid");
        if let saltus_io::AnySystem::Problem(problem) = &opened.system {
            count += usize::from(is_compiled(name, problem, None));
        }
    }
    let oscillator = |request: Request| {
        let file = shipped::find("oscillator").expect("shipped").expect("parses");
        request.family(file).expect("a family").family.problem().clone()
    };
    let over = || Request { over: vec!["w=1,2".into()], end: Some("1".into()), ..Request::default() };
    let sections = ["x':down", "sin(w*t)*x'", "x - 0.2"].map(String::from).to_vec();
    count += usize::from(is_compiled("sections", &oscillator(Request { sections, ..over() }), None));
    for scheme in ["moreau-jean", "mabrouk", "paoli-schatzman"] {
        count += usize::from(is_compiled(scheme, &oscillator(over()), Some(scheme)));
    }
    println!("{count} sources compiled");
    assert!(count == 0 || count > 8, "{count}");
}
