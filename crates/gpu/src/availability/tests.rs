use super::probe::is_on;
use super::*;

fn old(capability: (u32, u32)) -> DeviceInfo {
    DeviceInfo {
        ordinal: 0,
        name: "GTX 1080".into(),
        capability,
        total_memory: 8 << 30,
        multiprocessors: 20,
        pci: "0000:01:00.0".into(),
        unusable: Some("its compute capability is 6.1".into()),
    }
}

#[test]
fn every_answer_has_one_line_and_a_remedy() {
    let built_with = CudaVersion(13000);
    let driver = DriverVersion { number: Some("570.1".into()), cuda: CudaVersion(12080) };
    let nothing = Availability::NoDevice { visible: None, unusable: vec![] };
    let hidden = Availability::NoDevice { visible: Some(String::new()), unusable: vec![] };
    let unusable = Availability::NoDevice { visible: None, unusable: vec![old((6, 1))] };
    for (answer, line, remedy) in [
        (Availability::NotBuiltIn, "not built in", "--features cuda"),
        (Availability::Disabled, "switched off by MERGANSER_DISABLE_CUDA", "unset"),
        (
            Availability::NoDriver { built_with },
            "no NVIDIA driver (libcuda.so.1) found; this build needs driver 580 or later",
            "--gpus all",
        ),
        (
            Availability::OldDriver { driver, built_with },
            "the NVIDIA driver 570.1 (CUDA 12.8) is too old; this build (CUDA 13.0) needs driver \
             580 or later",
            "CUDA 12.x toolkit",
        ),
        (nothing, "no CUDA device", "nvidia-smi"),
        (hidden, "no CUDA device: CUDA_VISIBLE_DEVICES is set to ''", "CUDA_VISIBLE_DEVICES"),
        (
            unusable,
            "no usable CUDA device: cuda:0 GTX 1080: its compute capability is 6.1",
            "--device cpu",
        ),
    ] {
        assert_eq!(answer.reason(), line);
        assert!(answer.remedy().unwrap().contains(remedy), "{:?}", answer.remedy());
        assert_eq!(answer.usable().count(), 0);
    }
}

#[test]
fn ready_lists_the_usable_devices_only() {
    let good = DeviceInfo { ordinal: 1, name: "H100".into(), unusable: None, ..old((9, 0)) };
    let ready = Availability::Ready(vec![old((6, 1)), good]);
    assert_eq!(ready.reason(), "cuda:1 H100");
    assert_eq!(ready.remedy(), None);
}

#[test]
fn zero_and_nothing_leave_cuda_on() {
    for (value, on) in [(None, false), (Some(""), false), (Some("0"), false), (Some("1"), true)] {
        assert_eq!(is_on(value), on, "{value:?}");
    }
}
