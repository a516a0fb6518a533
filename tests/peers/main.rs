//! End-to-end tests of the built program on the test data of other programs. Each program is a file here; its data are read
//! from the folder that `MERGANSER_PEERS_DATA` names, which `fetch.sh` fills. Without the folder, these tests are skipped.
//! `docs/evidence/peers-tests.md` lists the results.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "tests panic on failure and print what they skip"
)]

mod bracken;
mod data;
mod deacon;
mod edlib;
mod genomescope;
mod hts;
mod jellyfish;
mod kmc;
mod krakentools;
mod merqury_fk;
mod multiqc;
mod razers3;
mod sassy;
