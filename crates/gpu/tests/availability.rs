//! The messages of a build that cannot use CUDA: without the feature, switched off, without a driver.
//! Each case runs in its own process, since the result is cached.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests are tests too")]

use merganser_gpu::{Availability, Device, Error, availability, diagnose};
use std::process::Command;

/// Runs one ignored test of this file in a new process and returns what it printed.
fn in_new_process(test: &str, variable: Option<(&str, &str)>) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--ignored", "--nocapture", "--test-threads=1"]);
    command.env_remove("MERGANSER_DISABLE_CUDA").envs(variable);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
#[ignore = "others run it in a process of its own"]
fn print_the_answer() {
    let reason = availability().reason();
    let error = Device::open(0).map_err(|error| error.to_string()).err();
    println!("reason={reason}");
    println!("error={}", error.unwrap_or_default());
    println!("{}", diagnose());
}

#[test]
fn without_the_feature_nothing_is_built_in() {
    if cfg!(feature = "cuda") {
        return;
    }
    let text = in_new_process("print_the_answer", Some(("MERGANSER_DISABLE_CUDA", "1")));
    assert!(text.contains("reason=not built in\n"), "{text}");
    assert!(text.contains("error=cannot use CUDA: not built in; build with `--features cuda`"));
    assert!(text.contains("build    no CUDA\ncannot use CUDA: not built in\nhint: "), "{text}");
}

#[test]
fn the_switch_is_heeded_and_named() {
    if !cfg!(feature = "cuda") {
        return;
    }
    let text = in_new_process("print_the_answer", Some(("MERGANSER_DISABLE_CUDA", "1")));
    assert!(text.contains("reason=switched off by MERGANSER_DISABLE_CUDA\n"), "{text}");
    assert!(text.contains("error=cannot use CUDA: switched off by"), "{text}");
}

#[test]
fn a_machine_without_a_driver_is_told_which_one_it_needs() {
    if !cfg!(feature = "cuda") {
        return;
    }
    let text = in_new_process("print_the_answer", None);
    if !text.contains("driver   none") {
        println!("skipped: this machine has a driver");
        return;
    }
    let line = "no NVIDIA driver (libcuda.so.1) found; this build needs driver ";
    assert!(text.contains(&format!("reason={line}")), "{text}");
    assert!(text.contains(&format!("error=cannot use CUDA: {line}")), "{text}");
    assert!(text.contains("hint: on a machine with an NVIDIA GPU install driver "), "{text}");
}

#[test]
fn every_attempt_to_get_a_device_says_why_not() {
    if matches!(availability(), Availability::Ready(_)) {
        println!("skipped: this machine has a device");
        return;
    }
    for ordinals in [&[0][..], &[0, 0], &[7]] {
        match Device::open_all(ordinals) {
            Err(Error::Unavailable { why }) => assert_eq!(*why, *availability()),
            other => panic!("{other:?}"),
        }
    }
}
