//! `merganser kmers`: the subcommands that read and make k-mer tables.

mod algebra;
mod compare;
mod dump;
mod hetmers;
mod histogram;
mod info;
mod matrix;
mod query;
mod qv;
mod reads;
mod tables;
mod track;
mod verify;

use std::process::ExitCode;
use std::time::Instant;

use anyhow::Result;
use merganser_kmers::algebra::Operation;

use crate::args::KmersCommand;
use crate::console::Console;

pub(crate) fn run(command: &KmersCommand, console: &Console, started: Instant) -> Result<ExitCode> {
    use KmersCommand as Verb;
    match command {
        Verb::Info(args) => info::run(args),
        Verb::Dump(args) => dump::run(args, console),
        Verb::Histogram(args) => histogram::run(args, console),
        Verb::Qv(args) => qv::run(args, console, started),
        Verb::Query(args) => query::run(args),
        Verb::Verify(args) => verify::run(args, console),
        Verb::Union(args) => algebra::union(args, console),
        Verb::Concat(args) => algebra::concat(args, console),
        Verb::Intersect(args) => {
            algebra::operation("intersect", Operation::Intersect, args, console)
        }
        Verb::Subtract(args) => algebra::subtract(args, console),
        Verb::CountersSubtract(args) => {
            algebra::operation("counters-subtract", Operation::CountersSubtract, args, console)
        }
        Verb::Eval(args) => algebra::eval(args, console),
        Verb::Reduce(args) => algebra::reduce(args, console),
        Verb::SetCounts(args) => algebra::set_counts(args, console),
        Verb::Compare(args) => compare::run(args),
        Verb::Matrix(args) => matrix::run(args, console),
        Verb::Hetmers(args) => hetmers::run(args, console),
        Verb::FilterReads(args) => reads::filter(args, console),
        Verb::Profile(args) => reads::profile(args, console),
        Verb::Track(args) => track::run(args, console, started),
    }
}
