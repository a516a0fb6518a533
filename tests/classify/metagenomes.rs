//! `build`, `classify` and `db` end to end: every output is parsed strictly and compared with the lines of the reads
//! or with an independent tool.

mod bracken;
mod databases;
mod edges;
mod extract;
mod formats;
mod gtdb;
mod kraken2;
mod masked;
mod partial;
mod peers;
mod prepare;
mod readers;
mod real;
mod references;
mod report_commands;
mod reports;
mod resume;
mod samples;
mod shards;
mod users;
mod world;
mod write_back;
