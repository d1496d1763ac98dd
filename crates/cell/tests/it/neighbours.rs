//! Cells of one zygote share nothing that code can change or guess.

use std::collections::HashSet;

use ordain_cell::Job;
use ordain_cell::profile::Profile;

use crate::world::{World, job, printed};

#[tokio::test]
async fn random_state_differs_from_cell_to_cell() {
    let world = World::with(|options| options.idle_cells = 2);
    let code = "import random, tempfile, uuid, secrets, os\n\
                print(random.random(), tempfile.mkstemp()[1], uuid.uuid4(), uuid.uuid1(), secrets.token_hex(4))";
    let mut seen = HashSet::new();
    for _ in 0..6 {
        let execution = world.run(code).await;
        let values: Vec<String> = printed(&execution).split_whitespace().map(str::to_owned).collect();
        assert_eq!(values.len(), 5);
        for value in values {
            assert!(seen.insert(value.clone()), "{value} came twice");
        }
    }
}

#[tokio::test]
async fn random_state_of_numpy_differs_too() {
    let world = World::with(|options| options.idle_cells = 2);
    let mut seen = HashSet::new();
    for _ in 0..3 {
        let code = "import numpy as np\nprint(np.random.rand(), np.random.default_rng().random())";
        let execution = world.run_job(Job { profile: Profile::Data, ..job(code) }).await.unwrap();
        for value in printed(&execution).split_whitespace() {
            assert!(seen.insert(value.to_owned()), "{value} came twice");
        }
    }
    let pandas = "import pandas as pd, numpy as np\nprint(pd.DataFrame({'a': [1, 2, 3]}).a.sum())\n\
                  try: np.zeros(10**11)\nexcept MemoryError as error: print(type(error).__name__)\nnp.zeros(10**11)";
    let execution = world.run_job(Job { profile: Profile::Data, ..job(pandas) }).await.unwrap();
    assert_eq!(execution.cause, ordain_types::Cause::MemoryLimit, "numpy has its own class for it");
    assert!(crate::world::stdout(&execution).starts_with("6\n"));
}

#[tokio::test]
async fn what_one_cell_changes_no_other_sees() {
    let world = World::new();
    let change = "import json, sys, os, builtins, tinydb, random, decimal, locale, threading, signal, resource\n\
                  json.dumps = None\nsys.path.append('/evil')\nos.environ['EVIL'] = '1'\nbuiltins.print = None\n\
                  tinydb.TinyDB.evil = True\nrandom.seed(1)\ndecimal.getcontext().prec = 3\n\
                  sys.setrecursionlimit(50)\nsignal.signal(signal.SIGALRM, lambda *_: None)\nos.umask(0)\n\
                  os.chdir('/tmp')\nopen('/work/evil', 'w').close()\nsys.modules['evil'] = sys\n\
                  resource.setrlimit(resource.RLIMIT_NOFILE, (20, 20))";
    let look = "import json, sys, os, tinydb, decimal, signal, resource\n\
                print(callable(json.dumps), '/evil' in sys.path, 'EVIL' in os.environ, hasattr(tinydb.TinyDB, 'evil'), \
                decimal.getcontext().prec, sys.getrecursionlimit(), signal.getsignal(signal.SIGALRM) is signal.SIG_DFL, \
                os.getcwd(), sorted(os.listdir('/work')), 'evil' in sys.modules, \
                resource.getrlimit(resource.RLIMIT_NOFILE)[0])";
    let before = world.run(look).await;
    let expected = "True False False False 28 1000 True /work ['artifacts', 'data', 'tmp'] False 256\n";
    assert_eq!(printed(&before), expected);
    world.run(change).await;
    assert_eq!(printed(&world.run(look).await), expected);
}

#[tokio::test]
async fn two_cells_at_once_see_neither_each_other_s_processes_nor_files() {
    let world = World::new();
    let code = |name: &str| {
        format!(
            "import os, time\nopen('/tmp/{name}', 'w').close()\ntime.sleep(0.3)\n\
             print(os.getpid(), os.listdir('/tmp'), os.path.exists('/proc/1'), os.getuid())"
        )
    };
    let (a, b) = (code("a"), code("b"));
    let (a, b) = tokio::join!(world.run(&a), world.run(&b));
    assert_eq!(printed(&a), "1 ['a'] False 1000\n");
    assert_eq!(printed(&b), "1 ['b'] False 1000\n");
}

#[tokio::test]
async fn a_cell_holds_no_descriptor_and_no_variable_that_is_not_its_own() {
    let world = World::new();
    let code = "import os\nopened = []\nfor n in range(256):\n    try: os.fstat(n)\n    except OSError: continue\n    \
                opened.append(n)\nprint(opened)\nprint(sorted(os.environ))";
    let execution = world.run(code).await;
    let (descriptors, variables) = printed(&execution).split_once('\n').unwrap();
    assert_eq!(descriptors, "[0, 1, 2, 3]");
    for secret in ["PATH", "USER", "ORDAIN", "CARGO", "KEY", "TOKEN"] {
        assert!(!variables.contains(&format!("'{secret}")), "{variables}");
    }
}
