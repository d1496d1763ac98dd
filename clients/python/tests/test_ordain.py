"""The package against the real program, which `ORDAIN_PROGRAM` names. Tests of frames are left out where pandas is not."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import multiprocessing
import os
import pickle
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from ordain import (
    AsyncWorkspace,
    ChecksFailed,
    Conflict,
    Declined,
    NotFound,
    NotStarted,
    Ordain,
    OrdainError,
    ProgramMissing,
    Refused,
    Rows,
    RunFailed,
    StillRunning,
    Unreachable,
    Workspace,
    check_frame,
    find_program,
)

try:
    import pandas
except ImportError:
    pandas = None

PACKAGE = Path(__file__).parent.parent
PURCHASE = "Purchase 2 Wayfarer sunglasses for customer Alice."
with_pandas = unittest.skipIf(pandas is None, "pandas is not here")
without_pandas = unittest.skipIf(pandas is not None, "pandas is here")


def ordain(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([find_program(), *arguments], capture_output=True, text=True, check=False)


class Shop(unittest.TestCase):
    """A workspace of an example for each test."""

    example = "sunglasses"

    def setUp(self) -> None:
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = Path(place.name) / "shop"
        made = ordain("init", "--example", self.example, str(self.folder))
        self.assertEqual(made.returncode, 0, made.stderr)

    def open(self, **how: Any) -> Workspace:
        shop = Workspace(self.folder, model="rules", **how)
        self.addCleanup(shop.close)
        return shop

    def serve(self, *arguments: str) -> str:
        """Serves the workspace as somebody else would, and gives the address."""
        command = [find_program(), "serve", "-w", str(self.folder), "--listen", "127.0.0.1:0", "--json", "--log", "off"]
        server = subprocess.Popen([*command, "--model", "rules", *arguments], stdout=subprocess.PIPE)
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate)
        assert server.stdout is not None
        self.addCleanup(server.stdout.close)
        return str(json.loads(server.stdout.readline())["url"])

    def server(self) -> int:
        """The process that holds the folder."""
        return int((self.folder / ".ordain" / "serve.lock").read_text().split()[0])

    def fails(self, kind: type[OrdainError], code: str, work: Callable[[], object]) -> OrdainError:
        with self.assertRaises(kind) as caught:
            work()
        self.assertEqual(caught.exception.code, code)
        return caught.exception


class Asking(Shop):
    def test_a_question_gives_answer_rows_and_receipt(self) -> None:
        run = self.open().ask("do you have round sunglasses under $100?")
        self.assertIn("Classic", run.answer or "")
        self.assertEqual(run.rows, [{"name": "Classic", "price": 60.0}])
        self.assertEqual(run.rows.columns, ["name", "price"])
        self.assertEqual(run.receipt, "Nothing was changed.")
        self.assertTrue(run.ok)
        self.assertEqual(dict(run.diff), {})

    def test_a_purchase_is_held_approved_and_undone(self) -> None:
        shop = self.open()
        run = shop.ask(PURCHASE, hold=True)
        self.assertEqual(run.state, "held")
        [change] = run.diff["inventory"].changed
        self.assertEqual((change.key, change.columns), ({"item_id": "SG002"}, ["quantity_in_stock"]))
        self.assertEqual(run.diff["transactions"].added[0]["customer_name"], "Alice")
        self.assertIs(run.approve(), run)
        self.assertEqual(run.state, "committed")
        stock = {row["item_id"]: row["quantity_in_stock"] for row in shop.table("inventory").rows()}
        self.assertEqual(stock["SG002"], change.after["quantity_in_stock"])
        [event] = shop.table("inventory").history("SG002")
        self.assertEqual((event["run_id"], event["state"], event["undone_at"]), (run.id, "committed", None))
        self.assertEqual(shop.run(run.id).undo().state, "undone")
        [event] = shop.table("inventory").history("SG002")
        self.assertEqual((event["before"], event["after"]), (change.before, change.after))
        self.assertTrue(event["undone_at"])
        self.assertEqual(shop.table("inventory").history("SG001"), [])
        self.fails(Conflict, "wrong_state", run.undo)
        self.assertEqual(run.refresh().state, "undone")

    def test_a_dry_run_and_a_rejected_one_change_nothing(self) -> None:
        shop = self.open()
        before = shop.table("inventory").rows()
        tried = shop.ask(PURCHASE, dry_run=True)
        self.assertTrue(tried.ok)
        self.assertEqual(list(tried.diff), ["inventory", "transactions"])
        self.assertEqual(shop.ask(PURCHASE, hold=True).reject().state, "rejected")
        self.assertEqual(shop.table("inventory").rows(), before)

    def test_what_is_not_understood_is_an_exception_with_the_words(self) -> None:
        shop = self.open()
        with self.assertRaises(Declined) as caught:
            shop.ask("frobnicate the zork")
        self.assertIn("frobnicate", caught.exception.message)
        self.assertEqual(caught.exception.run.state, "declined")
        run = shop.ask("frobnicate the zork", check=False)
        self.assertFalse(run.ok)
        with self.assertRaises(Declined):
            _ = run.rows

    def test_a_plan_of_ones_own_gives_odd_values_back_as_they_are(self) -> None:
        odd = {"big": 2**60 + 1, "none": None, "deep": [{"ü": [1, {"x": "\u2028"}]}], "price": "0.10", "smile": "😀"}
        plan = f"answer_rows = [{odd!r}, {{'big': 1}}]\nanswer_text = 'odd'\nSTATUS = 'success'\n"
        run = self.open().ask("odd", plan=plan)
        self.assertEqual(run.rows[0], odd)
        self.assertEqual(json.loads(json.dumps(run.record)), run.record)

    def test_a_page_shows_rows_and_diff_and_takes_no_value_for_markup(self) -> None:
        hostile = "<script>alert(1)</script>"
        plan = f"answer_rows = [{{'a': {hostile!r}}}]\nanswer_text = {hostile!r}\nSTATUS = 'success'\n"
        page = self.open().ask("odd", plan=plan)._repr_html_()
        self.assertNotIn("<script", page)
        self.assertIn("&lt;script&gt;", page)
        self.assertIn("Nothing was changed.", page)

    def test_runs_and_tables_are_listed(self) -> None:
        shop = self.open()
        for _ in range(3):
            shop.ask("how many items are there?")
        held = shop.ask(PURCHASE, hold=True)
        self.assertEqual(len(list(shop.runs())), 4)
        self.assertEqual([run.id for run in shop.runs(state="held")], [held.id])
        self.assertEqual(len(list(shop.runs(limit=2))), 2)
        self.assertEqual(shop.tables()["inventory"].key, ["item_id"])
        self.assertEqual(shop.table("inventory").columns["price"], "real")
        self.fails(OrdainError, "unknown_table", lambda: shop.table("nothing"))
        self.fails(NotFound, "unknown_run", lambda: shop.run("no/such run"))

    @with_pandas
    def test_rows_and_diffs_are_frames(self) -> None:
        shop = self.open()
        frame = shop.ask("list all sunglasses").df
        self.assertEqual(list(frame.columns), ["name", "price"])
        self.assertEqual(str(frame["price"].dtype), "float64")
        run = shop.ask(PURCHASE, hold=True)
        changed = run.diff["inventory"].changed.df
        self.assertEqual(list(changed.columns), ["item_id", "column", "before", "after"])
        self.assertEqual(changed.loc[0, "column"], "quantity_in_stock")
        self.assertEqual(set(run.diff.df["table"]), {"inventory", "transactions"})
        self.assertEqual(len(shop.table("inventory").df), 7)

    @without_pandas
    def test_a_frame_without_pandas_is_an_error_that_says_so(self) -> None:
        run = self.open().ask("list all sunglasses")
        self.assertEqual(len(run.rows), 7)
        self.fails(OrdainError, "no_pandas", lambda: run.df)


class Code(Shop):
    def test_code_runs_with_files_and_leaves_some(self) -> None:
        code = "print(files['ä ö.txt'].read_text())\n(artifacts / 'ü x.txt').write_text('hé')"
        run = self.open().exec(code, {"ä ö.txt": "zoë"})
        self.assertEqual(run.stdout, "zoë\n")
        self.assertEqual(run.file(run.files[0]["name"]), "hé".encode())
        self.fails(NotFound, "unknown_artifact", lambda: run.file("../../etc/passwd"))

    def test_what_code_raises_and_what_is_refused_are_exceptions(self) -> None:
        shop = self.open()
        with self.assertRaises(RunFailed) as caught:
            shop.exec("1/0")
        self.assertIn("ZeroDivisionError", caught.exception.run.stderr)
        refused = self.fails(RunFailed, "blocked-import", lambda: shop.exec("import socket"))
        self.assertTrue(refused.hint)
        self.fails(RunFailed, "timeout", lambda: shop.exec("while True: pass", time_limit="300ms"))
        self.fails(OrdainError, "bad_file", lambda: shop.exec("pass", {"a.bin": 5}))
        self.fails(OrdainError, "bad_file", lambda: shop.exec("pass", ["/no/such/file"]))

    def test_a_call_that_is_not_waited_for_names_its_run(self) -> None:
        shop = self.open()
        with self.assertRaises(StillRunning) as caught:
            shop.exec("import time\ntime.sleep(20)", timeout=0.5)
        run = shop.run(caught.exception.run_id or "")
        self.assertEqual(run.state, "running")
        error = run.cancel().error
        self.assertEqual(error and error["code"], "cancelled")

    @with_pandas
    def test_a_frame_is_a_file(self) -> None:
        frame = pandas.DataFrame({"qty": [1, 2], "name": ["a", None]})
        code = "import pandas\nprint(pandas.read_csv(files['t.csv']).qty.sum())"
        self.assertEqual(self.open().exec(code, {"t.csv": frame}, profile="data").stdout, "3\n")
        self.assertIn("3", self.open().code("total qty", {"t.csv": frame}).answer or "")


class Servers(Shop):
    def test_a_second_workspace_attaches_and_goes_on_when_the_first_ends(self) -> None:
        first, second = self.open(), self.open()
        self.assertEqual(first.url, second.url)
        process = self.server()
        first.close()
        self.assertEqual(second.ask("how many items are there?").answer, "There are 7 items.")
        self.assertNotEqual(self.server(), process)

    def test_a_workspace_that_somebody_serves_is_called_there(self) -> None:
        url = self.serve()
        shop = self.open()
        self.assertEqual(shop.url, url)
        shop.close()
        self.assertIn("7", Ordain(url).ask("how many items are there?").answer or "")

    def test_a_server_that_is_killed_in_the_middle_loses_nothing_and_doubles_nothing(self) -> None:
        shop = self.open()
        before = len(shop.table("transactions"))
        for delay in (0.0, 0.002, 0.005, 0.01, 0.02, 0.04):
            killer = threading.Timer(delay, os.kill, (self.server(), signal.SIGKILL))
            killer.start()
            self.assertEqual(shop.ask("buy 1 moon").state, "committed")
            killer.join()
        self.assertEqual(len(shop.table("transactions")), before + 6)

    def test_the_same_key_is_carried_out_once(self) -> None:
        shop = self.open()
        runs = {shop.ask("buy 1 moon", key="order-1").id for _ in range(3)}
        self.assertEqual(len(runs), 1)
        self.fails(OrdainError, "idempotency_key_reused", lambda: shop.ask("buy 2 moon", key="order-1"))

    def test_a_server_of_ones_own_ends_with_its_process_however_that_ends(self) -> None:
        script = f"import ordain, os\nw = ordain.Workspace({str(self.folder)!r})\nprint(w.url, flush=True)\n"
        for end in ("os._exit(1)", "os.kill(os.getpid(), 9)", "raise SystemExit", "w.close()"):
            done = subprocess.run([sys.executable, "-c", script + end], capture_output=True, text=True, check=False)
            socket = Path(done.stdout.strip().removeprefix("unix:"))
            self.assertTrue(socket.is_absolute(), done.stderr)
            until = time.monotonic() + 60
            while socket.exists() and time.monotonic() < until:
                time.sleep(0.02)
            self.assertFalse(socket.exists(), end)

    def test_nobody_else_can_come_to_the_socket(self) -> None:
        socket = Path(self.open().url.removeprefix("unix:"))
        self.assertEqual(socket.stat().st_mode & 0o777, 0o600)
        self.assertEqual(socket.parent.stat().st_mode & 0o777, 0o700)

    def test_threads_and_forked_processes_share_a_workspace(self) -> None:
        shop = self.open()
        with ThreadPoolExecutor(16) as threads:
            runs = list(threads.map(lambda _: shop.ask("how many items are there?"), range(64)))
        self.assertEqual({run.answer for run in runs}, {"There are 7 items."})
        context = multiprocessing.get_context("fork")
        queue = context.SimpleQueue()
        child = context.Process(target=lambda: queue.put(shop.ask("how many items are there?").answer))
        child.start()
        self.assertEqual(queue.get(), "There are 7 items.")
        child.join()
        self.assertEqual(shop.ask("how many items are there?").answer, "There are 7 items.")

    def test_a_key_that_is_wrong_missing_or_too_small_is_refused(self) -> None:
        key = ordain("keys", "create", "--scope", "read", "--name", "reader", "-w", str(self.folder)).stdout.strip()
        url = self.serve("--require-keys")
        self.fails(Refused, "key_missing", lambda: Ordain(url).tables())
        self.fails(Refused, "key_missing", lambda: self.open().tables())
        self.fails(Refused, "key_unknown", lambda: Ordain(url, key=key[:-4] + "0000").tables())
        self.fails(OrdainError, "bad_key", lambda: Ordain(url, key="ordain_ü"))
        with Ordain(url, key=key) as reader:
            self.assertEqual(len(reader.tables()), 2)
            refused = self.fails(Refused, "scope_missing", lambda: reader.ask("buy 1 moon"))
            self.assertIn("--scope run", refused.hint or "")

    def test_what_is_not_there_is_named(self) -> None:
        nowhere = self.folder / "nowhere"
        self.assertIn(str(nowhere), str(self.fails(NotFound, "no_workspace", lambda: Workspace(nowhere))))
        empty = self.folder.parent / "empty"
        empty.mkdir()
        self.assertIn("ordain init", str(self.fails(NotStarted, "not_started", lambda: Workspace(empty))))
        (empty / "ordain.toml").write_text("[workspace]\nnam = 'x'\n")
        self.assertIn("ordain.toml", str(self.fails(NotStarted, "not_started", lambda: Workspace(empty))))
        missing = str(self.folder / "no-ordain")
        self.fails(ProgramMissing, "program_missing", lambda: Workspace(self.folder, program=missing))
        for other in ("true", "echo", "false"):
            self.fails(NotStarted, "not_started", partial(Workspace, self.folder, program=other))
        self.fails(Unreachable, "unreachable", lambda: Ordain("http://127.0.0.1:9").tables())
        for wrong in ("", "shop", "ftp://x", "http://", "http://x:99999", "http://[::1", "http://key@x", "http://x?a"):
            self.fails(OrdainError, "bad_url", partial(Ordain, wrong))

    def test_an_exception_survives_the_way_to_another_process(self) -> None:
        error = self.fails(NotFound, "unknown_run", lambda: self.open().run("x"))
        again = pickle.loads(pickle.dumps(error))
        self.assertEqual((type(again), str(again), again.status), (NotFound, str(error), 404))


class Strangers(unittest.TestCase):
    """Servers that are none of Ordain's, or that break off."""

    def answer(self, *replies: bytes) -> str:
        """Listens, and gives each connection the next of these replies."""
        import socket

        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)

        def serve() -> None:
            for reply in replies:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection:
                    connection.recv(65536)
                    connection.sendall(reply)

        threading.Thread(target=serve, daemon=True).start()
        return "http://127.0.0.1:%d" % listener.getsockname()[1]

    def reply(self, status: str, body: str, *headers: str) -> bytes:
        lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *headers, "", body]
        return "\r\n".join(lines).encode()

    def test_a_reply_that_is_not_ordains_is_told_so(self) -> None:
        for status, body in [("200 OK", "<html>"), ("404 Not Found", "nope"), ("500 Oh", "{}"), ("403 No", "[1]")]:
            with self.assertRaises(OrdainError) as caught:
                Ordain(self.answer(self.reply(status, body))).version()
            self.assertEqual(caught.exception.code, "not_ordain", status)

    def test_a_reply_that_breaks_off_is_asked_for_again(self) -> None:
        good = self.reply("200 OK", '{"name": "ordain"}')
        url = self.answer(b"", good[:20], good[:-3], b"garbage\r\n\r\n", good)
        self.assertEqual(Ordain(url).version(), {"name": "ordain"})

    def test_a_busy_server_is_asked_again_when_it_says(self) -> None:
        body = '{"code": "cells_busy", "detail": "all cells are busy"}'
        busy = self.reply("503 Busy", body, "Retry-After: 0")
        self.assertEqual(Ordain(self.answer(busy, busy, self.reply("200 OK", "{}"))).version(), {})

    def test_a_decision_whose_reply_is_lost_is_looked_up_and_not_sent_again(self) -> None:
        held, done = '{"run_id": "r", "state": "held"}', '{"run_id": "r", "state": "committed"}'
        url = self.answer(self.reply("200 OK", held), b"", self.reply("200 OK", done))
        self.assertEqual(Ordain(url).run("r").approve().state, "committed")


class Checks(Shop):
    example = "data-quality"

    def test_checks_give_a_report_that_can_be_raised(self) -> None:
        report = self.open().check()
        self.assertFalse(report.ok)
        self.assertEqual(len(report.results), 20)
        self.assertEqual(len(report.failed), report.record["counts"]["FAIL"])
        with self.assertRaises(ChecksFailed) as caught:
            report.raise_if_failed("critical")
        self.assertIn("CHK-030", caught.exception.message)
        self.assertIs(caught.exception.report, report)
        self.assertIn("CHK-030", report._repr_html_())

    def test_a_report_is_good_where_the_command_says_so(self) -> None:
        shop = self.open()
        for select in ("id:CHK-002", "id:CHK-020", "id:CHK-033", "id:CHK-023"):
            done = ordain("check", "run", "-w", str(self.folder), "--select", select)
            self.assertEqual(shop.check(select).ok, done.returncode == 0, select)
        self.fails(OrdainError, "nothing_selected", lambda: shop.check("zork"))

    def test_rows_in_memory_are_checked_in_words(self) -> None:
        rows = [
            {"id": 1, "price": 5, "name": "Zoë", "big": 2**70, "deep": {"a": [1]}, "NA": "x"},
            {"id": 2, "price": -1, "name": None, "big": None, "deep": None, "NA": "NA"},
            {"id": 2, "price": None, "name": "", "big": -1, "deep": [], "NA": "y"},
        ]
        rules = ["price must be between 0 and 500", "name must not be null", "id must be unique", "`NA` must not be null"]
        report = check_frame(rows, rules)
        self.assertEqual(report.failing, {"R1": [1], "R2": [1, 2], "R3": [1, 2], "R4": []})
        self.assertEqual(report.failed_rows, rows[1:])
        self.assertEqual(report.good_rows, rows[:1])
        self.assertEqual(report.rows_of("id must be unique"), rows[1:])
        self.assertFalse(report.ok)
        self.assertTrue(check_frame(rows, ["id must be positive"]).raise_if_failed().ok)

    def test_a_rule_that_is_not_understood_is_not_green(self) -> None:
        report = check_frame([{"id": 1}], ["zork is odd", {"kind": "not_null", "params": {"columns": ["id"]}}])
        self.assertFalse(report.ok)
        self.fails(ChecksFailed, "checks_not_evaluated", report.raise_if_failed)
        self.fails(OrdainError, "checks_not_run", lambda: check_frame([{"id": 1}], [{"kind": "zork"}]))
        self.fails(OrdainError, "no_rules", lambda: check_frame([{"id": 1}], []))

    def test_no_rows_are_green_only_where_that_is_allowed(self) -> None:
        for none in (Rows([], ["id"]), Rows([], ['odd "name",'])):
            rules = [{"kind": "not_null", "params": {"columns": none.columns}}]
            self.assertFalse(check_frame(none, rules).ok)
            self.assertTrue(check_frame(none, rules, allow_empty=True).ok)
        self.assertTrue(check_frame([], [{"kind": "row_count", "params": {"max": 3}}]).ok)

    @with_pandas
    def test_failing_rows_of_a_frame_are_rows_of_that_frame(self) -> None:
        frame = pandas.DataFrame(
            {
                "id": range(5000),
                "price": [float(place % 100) for place in range(5000)],
                "when": pandas.date_range("2026-01-01", periods=5000, freq="h", tz="Europe/Berlin"),
                "kind": pandas.Categorical(["a", "b"] * 2500),
                "note": pandas.array([None, "x"] * 2500, dtype="string"),
                "count": pandas.array([None, 2] * 2500, dtype="Int64"),
                "ok": [True] * 5000,
            },
            index=[f"row {place}" for place in range(5000)],
        )
        report = check_frame(frame, ["price must be below 50", "count must be 2", "ok must be true"])
        self.assertEqual(len(report.failing["R1"]), 2500)
        bad = report.failed_rows
        self.assertEqual((list(bad.index[:2]), list(bad.dtypes)), (["row 50", "row 51"], list(frame.dtypes)))
        pandas.testing.assert_frame_equal(report.good_rows, frame[frame["price"] < 50])
        self.assertEqual(list(report.df["status"]), ["FAIL", "PASS", "PASS"])

    @with_pandas
    def test_a_frame_keeps_every_value(self) -> None:
        rows = Rows([{"n": 2**60 + 1, "big": 2**70, "f": 1.5, "t": "0.10", "b": True, "d": {"x": 1}}, {"n": None}])
        frame = rows.df
        self.assertEqual(int(frame["n"].iloc[0]), 2**60 + 1)
        self.assertEqual(frame["big"].iloc[0], 2**70)
        self.assertEqual(frame["t"].iloc[0], "0.10")
        self.assertEqual(frame["d"].iloc[0], {"x": 1})
        self.assertEqual(str(frame["b"].dtype), "boolean")
        self.assertEqual(list(Rows([], ["a", "b"]).df.columns), ["a", "b"])


class Awaiting(Shop):
    def test_runs_are_awaited_and_decided_on(self) -> None:
        async def work() -> None:
            async with AsyncWorkspace(self.folder, model="rules") as shop:
                runs = await asyncio.gather(*(shop.ask("how many items are there?") for _ in range(20)))
                self.assertEqual({run.answer for run in runs}, {"There are 7 items."})
                run = await shop.ask(PURCHASE, hold=True)
                self.assertEqual((await run.approve()).state, "committed")
                self.assertEqual((await run.undo()).state, "undone")
                self.assertEqual(len(await shop.runs(state="undone")), 1)
                self.assertEqual(len((await shop.tables())["inventory"].rows()), 7)
                with self.assertRaises(RunFailed):
                    await shop.exec("1/0")

        asyncio.run(work())


class Notebook(Shop):
    def test_a_cell_asks_and_a_line_decides(self) -> None:
        if importlib.util.find_spec("IPython") is None:
            self.skipTest("IPython is not here")
        from IPython.core.interactiveshell import InteractiveShell

        shell: Any = InteractiveShell()  # type: ignore[no-untyped-call]
        shell.run_line_magic("load_ext", "ordain")
        shop = shell.run_line_magic("ordain", str(self.folder))
        self.addCleanup(shop.close)
        run = shell.run_cell_magic("ordain", "--hold bought", PURCHASE)
        self.assertEqual(run.state, "held")
        self.assertIn("quantity_in_stock", run._repr_html_())
        self.assertIs(shell.user_ns["bought"], run)
        self.assertEqual(shell.run_line_magic("ordain", "approve").state, "committed")
        self.assertEqual(shell.run_cell_magic("ordain", "", "frobnicate").state, "declined")


class Models(Shop):
    def test_the_models_of_replies_are_those_of_the_server(self) -> None:
        spec = importlib.util.spec_from_file_location("models", PACKAGE / "models.py")
        assert spec is not None and spec.loader is not None
        models = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(models)
        document = self.open()._get("/openapi.json").json()
        made = models.written(document)
        self.assertEqual((PACKAGE / "src/ordain/_models.py").read_text(), made, "run models.py, as it says itself")


class Page(Shop):
    def test_the_programs_on_the_page_run(self) -> None:
        page = (PACKAGE / "../../docs/clients/python.md").read_text()
        blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
        self.assertGreater(len(blocks), 3)
        for block in blocks:
            if "DataFrame" in block and pandas is None:
                continue
            (self.folder.parent / "page.py").write_text(block)
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
            done = subprocess.run(
                [sys.executable, "page.py"],
                cwd=self.folder.parent,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
            self.assertEqual(done.returncode, 0, block + done.stderr)
            for said in re.findall(r"# > (.*)", block):
                self.assertIn(said, done.stdout, block)


if __name__ == "__main__":
    unittest.main()
