//! The functions behind p-values, at arguments where the answer is known in closed form.

use std::process::Command;

const GAMMA: &str = include_str!("../../src/kinds/spread/gamma.py");
const BETA: &str = include_str!("../../src/kinds/spread/beta.py");

/// Asserts that Python computes what a formula says, both written in Python.
#[track_caller]
fn check(source: &str, pairs: &[(&str, &str)]) {
    let listed: Vec<_> = pairs.iter().map(|(ours, known)| format!("({ours}, {known})")).collect();
    let program = format!(
        "import math\n{source}\nfor ours, known in [{}]:\n    assert math.isclose(ours, known, rel_tol=1e-12, abs_tol=1e-300), (ours, known)\n",
        listed.join(", ")
    );
    let output = Command::new("python3").args(["-c", &program]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_upper_gamma_function_is_right_on_both_sides_of_its_turn() {
    check(
        GAMMA,
        &[
            ("upper_gamma(1, 0.3)", "math.exp(-0.3)"),
            ("upper_gamma(1, 30)", "math.exp(-30)"),
            ("upper_gamma(0.5, 0.2)", "math.erfc(math.sqrt(0.2))"),
            ("upper_gamma(0.5, 20)", "math.erfc(math.sqrt(20))"),
            ("upper_gamma(3, 2)", "math.exp(-2) * (1 + 2 + 2)"),
            ("upper_gamma(2, 0)", "1.0"),
            ("upper_gamma(2, math.inf)", "0.0"),
        ],
    );
}

#[test]
fn the_lower_beta_function_is_right_on_both_sides_of_its_turn() {
    check(
        BETA,
        &[
            ("lower_beta(1, 1, 0.25)", "0.25"),
            ("lower_beta(2, 3, 0.5)", "0.6875"),
            ("lower_beta(5, 1, 0.9)", "0.9 ** 5"),
            ("lower_beta(1, 7, 0.01)", "1 - 0.99 ** 7"),
            ("lower_beta(0.5, 0.5, 0.3)", "2 / math.pi * math.asin(math.sqrt(0.3))"),
            ("lower_beta(2, 3, 0)", "0.0"),
            ("lower_beta(2, 3, 1)", "1.0"),
        ],
    );
}
