// SPDX-License-Identifier: MIT
//
// A sketch of an engine in Rust that every tool of Vitrine shows: only what it needs of
// vitrine.h is declared.
//
//   rustc publish_jobs.rs -L native=/usr/local/lib -l dylib=vitrine
//   ./publish_jobs INSTANCE SEGMENT
use std::ffi::{c_char, c_int, CStr, CString};
use std::ptr;

const NONE: u32 = u32::MAX;
const DEVICE_CPU: u32 = 2;
const STAGE_WAITING: u32 = 1;
const STAGE_CPU: u32 = 2;
const STAGE_DEVICE: u32 = 3;

#[repr(C)]
struct Writer {
    _opaque: [u8; 0],
}

#[repr(C)]
struct Stage {
    name: *const c_char,
    stage_class: u32,
}

#[repr(C)]
struct Options {
    size: usize,
    instance: *const c_char,
    engine_version: *const c_char,
    path: *const c_char,
    api_socket_path: *const c_char,
    mode: u32,
    remove_at_close: u32,
    heartbeat_interval_ns: u64,
    jobs: u32,
    partitions: u32,
    workers: u32,
    devices: u32,
    events: u32,
    stage_count: u32,
    stages: *const Stage,
    extra_field_count: u32,
    reserved: u32,
    extra_fields: *const std::ffi::c_void,
}

#[repr(C)]
struct Job {
    size: usize,
    job: u64,
    circuit: *const c_char,
    proof_kind: *const c_char,
    request: *const c_char,
    partitions: u32,
    priority: u32,
    deadline_in_ns: u64,
}

extern "C" {
    fn vitrine_version() -> *const c_char;
    fn vitrine_code_text(code: c_int) -> *const c_char;
    fn vitrine_open(
        options: *const Options,
        writer: *mut *mut Writer,
        error: *mut c_char,
        error_size: usize,
    ) -> c_int;
    fn vitrine_close(writer: *mut Writer, exit_code: u32);
    fn vitrine_beat(writer: *mut Writer) -> c_int;
    fn vitrine_ready(writer: *mut Writer) -> c_int;
    fn vitrine_device_add(
        writer: *mut Writer,
        kind: u32,
        name: *const c_char,
        threads: u32,
        device: *mut u32,
    ) -> c_int;
    fn vitrine_worker_add(writer: *mut Writer, device: u32, worker: *mut u32) -> c_int;
    fn vitrine_job_submit(writer: *mut Writer, job: *const Job, number: *mut u64) -> c_int;
    fn vitrine_job_admit(writer: *mut Writer, job: u64) -> c_int;
    fn vitrine_partition_stage(
        writer: *mut Writer,
        job: u64,
        partition: u32,
        stage: u32,
        worker: u32,
    ) -> c_int;
    fn vitrine_partition_done(writer: *mut Writer, job: u64, partition: u32) -> c_int;
    fn vitrine_job_done(writer: *mut Writer, job: u64) -> c_int;
}

fn text(pointer: *const c_char) -> String {
    // The library's own texts are static and end in a zero byte.
    unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned()
}

/// An engine's status; closed when it is dropped.
struct Status {
    writer: *mut Writer,
}

impl Status {
    fn open(instance: &CStr, segment: &CStr, stages: &[Stage]) -> Status {
        let version = CString::new("sketch 1.0").unwrap();
        let mut options: Options = unsafe { std::mem::zeroed() };
        options.size = std::mem::size_of::<Options>();
        options.instance = instance.as_ptr();
        options.path = segment.as_ptr();
        options.engine_version = version.as_ptr();
        options.stages = stages.as_ptr();
        options.stage_count = stages.len() as u32;
        let mut status = Status { writer: ptr::null_mut() };
        let mut error = [0 as c_char; 256];
        let code =
            unsafe { vitrine_open(&options, &mut status.writer, error.as_mut_ptr(), error.len()) };
        if code != 0 {
            eprintln!("publish_jobs: not shown: {}", text(error.as_ptr()));
        }
        status
    }

    // The status of an engine never stops the engine.
    fn check(&self, code: c_int, what: &str) {
        if code != 0 {
            eprintln!("publish_jobs: {what}: {}", text(unsafe { vitrine_code_text(code) }));
        }
    }
}

impl Drop for Status {
    fn drop(&mut self) {
        unsafe { vitrine_close(self.writer, 0) }
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|word| CString::new(word).unwrap());
    let (Some(instance), Some(segment)) = (arguments.next(), arguments.next()) else {
        eprintln!("usage: publish_jobs INSTANCE SEGMENT");
        std::process::exit(2);
    };
    println!("vitrine {}", text(unsafe { vitrine_version() }));
    let names: Vec<CString> =
        ["waiting", "tracing", "hashing"].iter().map(|name| CString::new(*name).unwrap()).collect();
    let classes = [STAGE_WAITING, STAGE_CPU, STAGE_DEVICE];
    let stages: Vec<Stage> = names
        .iter()
        .zip(classes)
        .map(|(name, stage_class)| Stage { name: name.as_ptr(), stage_class })
        .collect();
    let status = Status::open(&instance, &segment, &stages);
    let name = CString::new("crab").unwrap();
    let (mut device, mut worker, mut number) = (0, 0, 0);
    unsafe {
        let writer = status.writer;
        let added = vitrine_device_add(writer, DEVICE_CPU, name.as_ptr(), 1, &mut device);
        status.check(added, "device");
        status.check(vitrine_worker_add(writer, device, &mut worker), "worker");
        status.check(vitrine_ready(writer), "ready");
        let mut job: Job = std::mem::zeroed();
        job.size = std::mem::size_of::<Job>();
        job.circuit = name.as_ptr();
        job.partitions = 1;
        status.check(vitrine_job_submit(writer, &job, &mut number), "submit");
        status.check(vitrine_job_admit(writer, number), "admit");
        status.check(vitrine_partition_stage(writer, number, 0, 1, NONE), "tracing");
        status.check(vitrine_partition_stage(writer, number, 0, 2, worker), "hashing");
        status.check(vitrine_beat(writer), "beat");
        status.check(vitrine_partition_done(writer, number, 0), "partition done");
        status.check(vitrine_job_done(writer, number), "job done");
    }
}
