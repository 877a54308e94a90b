"""Run a case: real-world trouble as steps with expectations, against a product reached through an adapter.

A case is one JSON file (`case`: the steps, `about`: what went wrong for others and what is wanted, `files`: its inputs).
A step is one hook call, one MCP dialog or one operation on the files, and is judged by its own `expect`.
"""

from __future__ import annotations

import base64
import glob
import hashlib
import json
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

RELAY = r"""
import os, subprocess, sys, threading
hold = sys.argv[1] == "hold"
r, w = os.pipe()
p = subprocess.Popen(sys.argv[2:], stdin=r, stdout=subprocess.PIPE, stderr=sys.stderr.fileno())
os.close(r)
sys.stderr.flush()
if hold:
    h = subprocess.Popen(["sleep", "900"], pass_fds=(w,), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
with open(os.environ["CASE_PIDFILE"] + ".t", "w") as f: f.write("%d %d" % (p.pid, h.pid if hold else 0))
os.rename(os.environ["CASE_PIDFILE"] + ".t", os.environ["CASE_PIDFILE"])
def up():
    while True:
        b = os.read(0, 65536)
        if not b: break
        try:
            v = memoryview(b)
            while v: v = v[os.write(w, v):]
        except OSError: break
    os.close(w)
threading.Thread(target=up, daemon=True).start()
while True:
    b = p.stdout.read1(65536)
    if not b: break
    os.write(1, b)
sys.exit(p.wait())
"""


SLOW = 1.0  # --slow: multiplies every time limit


class Fail(Exception):
    pass


def unpack(path, folder):
    """Lay a case file out as the folder that the steps name; returns the folder."""
    pack = json.loads(Path(path).read_text(encoding="utf-8"))
    folder.mkdir(parents=True)
    for rel, content in pack["files"].items():
        target = folder / rel
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else base64.b64decode(content["base64"]))
    (folder / "case.json").write_text(json.dumps(pack["case"]), encoding="utf-8")
    return folder


def subst(x, v):
    if isinstance(x, str):
        for k, val in v.items():
            x = x.replace(f"${{{k}}}", str(val))
        return x
    if isinstance(x, list):
        return [subst(i, v) for i in x]
    if isinstance(x, dict):
        return {k: subst(i, v) for k, i in x.items()}
    return x


def digest(p):
    p = Path(p)
    return hashlib.sha256(p.read_bytes()).hexdigest() if p.is_file() else "absent"


class Case:
    def __init__(self, d, ad, keep):
        self.ad, self.keep = ad, keep
        self.tmp = Path(tempfile.mkdtemp(prefix="case-")).resolve()
        self.packed = Path(tempfile.mkdtemp(prefix="pack-")).resolve()
        self.dir = unpack(d, self.packed / "case")
        self.spec = json.loads((self.dir / "case.json").read_text(encoding="utf-8"))
        name = self.spec.get("vault_name", "vault")
        self.vault = self.tmp / name
        self.repo = self.tmp / self.spec.get("repo_name", "repo")
        self.home = self.tmp / "home"
        for p in (self.vault, self.repo, self.home):
            p.mkdir(parents=True)
        self.vars = {
            "vault": self.vault,
            "repo": self.repo,
            "home": self.home,
            "case": self.dir.resolve(),
            "tmp": self.tmp,
        }
        for k, n in ad.DIRS.items():
            self.vars["dir." + k] = n
        self.clients, self.notes, self.said, self.got = {}, [], {}, {}

    def map(self, rel):
        parts = Path(rel).parts
        if parts and parts[0] in self.ad.DIRS:
            return Path(self.ad.DIRS[parts[0]], *parts[1:])
        return Path(rel)

    def at(self, rel):
        rel = str(rel)
        if rel.startswith("${") or rel.startswith("/"):
            return Path(subst(rel, self.vars))
        return self.vault / self.map(rel)

    def lay_out(self):
        self.ad.prepare_vault(self.vault)
        src = self.dir / "vault"
        if src.is_dir():
            for f in sorted(src.rglob("*")):
                if f.is_file():
                    dst = self.vault / self.map(f.relative_to(src))
                    dst.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(f, dst)
        if (self.dir / "repo").is_dir():
            shutil.copytree(self.dir / "repo", self.repo, dirs_exist_ok=True)
        for m in self.spec.get("memories", []):
            self.ad.write_memory(self.vault, m)
        if self.spec.get("policy"):
            self.ad.apply_policy(self.vault, self.spec["policy"])
        for op in self.spec.get("setup", []):
            self.op(op)

    def op(self, op):
        k = op["op"]
        p = self.at(op["path"]) if "path" in op else None
        if p is not None and k not in ("chmod", "delete", "git_init", "git_commit"):
            p.parent.mkdir(parents=True, exist_ok=True)
        if k == "write":
            p.write_bytes(subst(op["text"], self.vars).encode("utf-8", "surrogatepass"))
        elif k == "write_hex":
            p.write_bytes(bytes.fromhex(op["hex"]))
        elif k == "replace":  # the way editors save: new file, then rename over
            t = p.with_name(p.name + ".tmp~")
            t.write_bytes(op["text"].encode())
            os.replace(t, p)
        elif k == "repeat":
            with open(p, "a" if op.get("append") else "w", encoding="utf-8") as f:
                f.write(op.get("head", ""))
                n = 0
                while n < op["bytes"]:
                    u = op["unit"].replace("%d", str(n))
                    f.write(u)
                    n += len(u.encode())
                f.write(op.get("tail", ""))
        elif k == "many":
            for i in range(op["count"]):
                q = self.at(op["path"].replace("%d", str(i)))
                q.parent.mkdir(parents=True, exist_ok=True)
                q.write_text(op["text"].replace("%d", str(i)), encoding="utf-8")
        elif k == "mkdir":
            p.mkdir(parents=True, exist_ok=True)
        elif k == "symlink":
            os.symlink(subst(op["to"], self.vars), p)
        elif k == "chmod":
            os.chmod(p, int(op["mode"], 8))
        elif k == "rename":
            q = self.at(op["to"])
            if q.is_dir() and not q.is_symlink():
                made = [str(x.relative_to(q)) for x in q.rglob("*")][:5]
                shutil.rmtree(q)
                os.rename(p, q)
                raise Fail(
                    "{} was created again while it was moved away ({})".format(q.name, ", ".join(made) or "empty")
                )
            q.parent.mkdir(parents=True, exist_ok=True)
            os.rename(p, q)
        elif k == "delete":
            shutil.rmtree(p) if p.is_dir() else p.unlink()
        elif k == "fifo":
            os.mkfifo(p)
        elif k == "git_init":
            self.git(p, "init", "-q")
        elif k == "git_commit":
            self.git(
                p, "-c", "user.name=a", "-c", "user.email=a@example.invalid", "commit", "-q", "--allow-empty", "-m", "x"
            )
        elif k == "git_worktree":
            self.git(self.at(op["of"]), "worktree", "add", "-q", str(p))
        elif k == "memories_to_crlf":
            for f in self.ad.memory_files(self.vault):
                b = f.read_bytes()
                if op["where"].encode() in b:
                    f.write_bytes(b.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))
        elif k == "memory_insert":  # lines a person added below the opening fence
            for f in self.ad.memory_files(self.vault):
                b = f.read_bytes()
                if op["where"].encode() in b and b.startswith(b"---\n"):
                    f.write_bytes(b"---\n" + op["lines"].encode() + b[4:])
        elif k == "policy_damage":
            if not hasattr(self.ad, "policy_file"):
                self.notes.append("policy damage not tested: the adapter has no policy_file")
                return
            f = self.ad.policy_file(self.vault)
            self.good_policy = getattr(self, "good_policy", None) or f.read_bytes()
            g = self.good_policy
            f.write_bytes(
                {"empty": b"", "half": g[: len(g) // 2], "bracket": b"[", "binary": b"\x00\xff" * 40, "intact": g}[
                    op["kind"]
                ]
            )
        elif k == "damage_index":  # whatever database the product left anywhere
            n = 0
            for f in sorted(self.tmp.rglob("*")):
                if (
                    f.is_file()
                    and not f.is_symlink()
                    and (f.suffix in (".db", ".sqlite", ".sqlite3") or f.name.endswith(("-wal", "-shm")))
                ):
                    f.write_bytes(
                        {"zeros": bytes(4096), "short": b"SQLite for", "text": b"this is no database\n" * 300}[
                            op["kind"]
                        ]
                    )
                    n += 1
            self.notes.append("%d index files damaged" % n)
        elif k == "audit_tear":  # a crash in the middle of a record
            with open(self.ad.audit_log(self.vault), "ab") as f:
                f.write(op["text"].encode())
        elif k == "audit_as_folder":
            q = self.ad.audit_log(self.vault)
            if q.exists():
                q.unlink()
            q.mkdir(parents=True)
        elif k == "swap_text":  # same length, time stamp kept
            for f in [p] if p.is_file() else sorted(p.rglob("*.md")):
                b = f.read_bytes()
                if op["from"].encode() in b:
                    s = f.stat()
                    f.write_bytes(b.replace(op["from"].encode(), op["to"].encode()))
                    os.utime(f, ns=(s.st_atime_ns, s.st_mtime_ns))
        elif k == "second_vault":
            p.mkdir(parents=True)
            self.ad.prepare_vault(p)
            for rel, text in op["files"].items():
                q = p / self.map(rel)
                q.parent.mkdir(parents=True, exist_ok=True)
                q.write_text(text, encoding="utf-8")
        elif k == "memory":
            self.ad.write_memory(self.vault, op["memory"])
        else:
            raise Fail("unknown setup op " + k)

    def git(self, cwd, *a):
        subprocess.run(
            ["git", *a], cwd=cwd, check=True, env={**os.environ, "HOME": str(self.home)}, stdout=subprocess.DEVNULL
        )

    # ---- hooks
    def env(self, changes):
        e = {k: v for k, v in os.environ.items() if not k.startswith(("CLAUDE", "CODEX", "GEMINI", "XDG_"))}
        e["HOME"] = str(self.home)
        for k, v in (changes or {}).items():
            if v is None:
                e.pop(k, None)
            else:
                e[k] = subst(v, self.vars)
        return e

    def hook(self, st):
        ex = st.get("expect", {})
        host = st.get("host", "claude")
        if "raw" in st:
            data = st["raw"].encode("utf-8", "surrogatepass")
        elif "raw_hex" in st:
            data = bytes.fromhex(st["raw_hex"])
        elif "raw_gen" in st:
            g = st["raw_gen"]
            data = (g["head"] + g["unit"] * g["count"] + g["tail"]).encode()
        else:
            pl = st["payload"]
            if isinstance(pl, str):
                pl = json.loads((self.dir / pl).read_text(encoding="utf-8"))
            data = json.dumps(subst(pl, self.vars)).encode()
        env = self.env(st.get("env"))
        if host == "claude" and not st.get("no_project_dir"):
            env.setdefault("CLAUDE_PROJECT_DIR", str(self.vault))
        argv = subst(self.ad.hook_argv(st["hook"], self.vault, host), self.vars)
        t = time.time()
        try:
            r = subprocess.run(
                argv,
                input=data,
                env=env,
                cwd=subst(st.get("cwd", str(self.vault)), self.vars),
                capture_output=True,
                timeout=SLOW * ex.get("max_seconds", 10),
            )
        except subprocess.TimeoutExpired:
            raise Fail("hook took longer than {}s".format(ex.get("max_seconds", 10)))
        except FileNotFoundError as e:
            raise Fail(f"hook could not start: {e}")
        out = r.stdout
        text = out.decode("utf-8", "replace")
        bad = []
        if r.returncode not in ex.get("exit", [0]):
            bad.append("exit %d, stderr: %s" % (r.returncode, r.stderr.decode("utf-8", "replace")[-300:]))
        if b"Traceback (most recent" in r.stderr:
            bad.append("traceback on stderr: " + r.stderr.decode("utf-8", "replace").strip()[-200:])
        doc = None
        if text.strip():
            try:
                doc = json.loads(out.decode("utf-8"))
                if not isinstance(doc, dict):
                    bad.append("stdout is JSON but no object")
                    doc = None
            except Exception as e:
                if not (
                    host == "claude" and st["hook"] in ("session_start", "prompt") and text.lstrip()[:1] not in "{["
                ):
                    bad.append(f"stdout is neither empty nor one JSON object: {e}")
        if doc is None and text.lstrip()[:1] not in ("{", "[", "") and re.search(r"(?m)^\s*\{.*\}\s*$", text):
            bad.append(f"plain text and JSON mixed on stdout: {text[:80]!r}")
        spoken = self.spoken(doc) if doc is not None else ("" if text.lstrip()[:1] in ("{", "[", "") else text)
        hso = (doc or {}).get("hookSpecificOutput")
        if hso is not None and (not isinstance(hso, dict) or "hookEventName" not in hso):
            bad.append("hookSpecificOutput without hookEventName")
        if ex.get("quiet") and spoken.strip():
            bad.append("expected silence, got: " + spoken.strip()[:160])
        if "speaks" in ex and not re.search(ex["speaks"], spoken, re.I | re.S):
            bad.append("expected text matching {!r}, got: {!r}".format(ex["speaks"], spoken[:160]))
        for pat in ex.get("lacks", []):
            if re.search(pat, spoken, re.I | re.S):
                bad.append(f"must not say {pat!r}")
        if ex.get("no_repeat") and spoken.strip() and spoken == self.said.get(st["hook"]):
            bad.append("says the same again")
        self.said[st["hook"]] = spoken
        if "max_bytes" in ex and len(spoken.encode()) > ex["max_bytes"]:
            bad.append("%d bytes of context, at most %d allowed" % (len(spoken.encode()), ex["max_bytes"]))
        if ex.get("not_blocking") and (
            r.returncode == 2 or (doc or {}).get("decision") == "block" or (doc or {}).get("continue") is True
        ):
            bad.append("blocks or continues the turn")
        self.notes.append("%s: %.2fs, %d bytes out" % (st["hook"], time.time() - t, len(out)))
        self.after(ex, bad)
        if bad:
            raise Fail("; ".join(bad))

    @staticmethod
    def spoken(doc):
        if not isinstance(doc, dict):
            return ""
        h = doc.get("hookSpecificOutput") if isinstance(doc.get("hookSpecificOutput"), dict) else {}
        return "\n".join(
            str(x)
            for x in (
                h.get("additionalContext"),
                doc.get("systemMessage"),
                doc.get("reason"),
                doc.get("additionalContext"),
            )
            if x
        )

    def after(self, ex, bad):
        for p in ex.get("same", []):
            if digest(self.at(p)) != self.before.get(p):
                bad.append("file changed: " + p)
        for p in ex.get("exists", []):
            if not glob.glob(glob.escape(str(self.vault)) + "/" + str(self.map(p))):
                bad.append("file missing: " + p)
        for p in ex.get("absent", []):
            if os.path.lexists(self.at(p)):
                bad.append("file should not exist: " + p)
        for rule in ex.get("file_text", []):
            t = self.at(rule["path"]).read_bytes().decode("utf-8", "replace")
            for s in rule.get("contains", []):
                if s not in t:
                    bad.append("{} lacks {!r}".format(rule["path"], s))
            for s in rule.get("lacks", []):
                if s in t:
                    bad.append("{} contains {!r}".format(rule["path"], s))
        if "memory_count" in ex:
            n = len(self.ad.memory_files(self.vault))
            if n != ex["memory_count"]:
                bad.append("%d memory files, expected %d" % (n, ex["memory_count"]))
        for s in ex.get("some_memory_contains", []):
            if not any(s in f.read_bytes().decode("utf-8", "replace") for f in self.ad.memory_files(self.vault)):
                bad.append(f"no memory file contains {s!r}")
        for s, where in ex.get("held_only_by", []):  # no index, log, cache or temporary file may hold it
            ok = {str(self.at(w)) for w in where}
            for f in self.tmp.rglob("*"):
                if f.is_file() and not f.is_symlink() and str(f) not in ok and s.encode() in f.read_bytes():
                    bad.append(f"{s!r} also in {f.relative_to(self.tmp)}")
        if "memories_whole" in ex:  # [[marker, how often it must occur], ...]; every memory file must fit one
            for f in self.ad.memory_files(self.vault):
                t = f.read_bytes().decode("utf-8", "replace")
                if not any(
                    t.count(m) == n or n < 0 <= t.count(m) + n for m, n in ex["memories_whole"]
                ):  # -1: at least once
                    bad.append("incomplete memory file: %s (%d bytes)" % (f.name, len(t)))
        for s in ex.get("no_memory_contains", []):
            for f in self.ad.memory_files(self.vault):
                if s in f.read_bytes().decode("utf-8", "replace"):
                    bad.append(f"memory file holds {s!r}")
        for s in ex.get("no_file_contains", []):
            for f in self.vault.rglob("*"):
                if f.is_file() and not f.is_symlink() and s.encode() in f.read_bytes():
                    bad.append(f"{s!r} found in {f.relative_to(self.vault)}")
        for s in ex.get("copies_hold", []):  # a copy of a source file, wherever the product keeps it
            if not any(
                s.encode() in f.read_bytes()
                for f in self.tmp.rglob("*")
                if f.is_file() and not f.is_symlink() and f.parent != self.home
            ):
                bad.append(f"no copy holds {s!r}")
        for s in ex.get("copies_private", []):  # nobody else may read such a copy
            for f in self.tmp.rglob("*"):
                if (
                    f.is_file()
                    and not f.is_symlink()
                    and f.parent != self.home
                    and f.suffix not in (".md", ".py")
                    and s.encode() in f.read_bytes()
                    and f.stat().st_mode & 0o077
                ):
                    bad.append(f"readable by others: {f.relative_to(self.tmp)}")
        for p, n in ex.get("max_lines", {}).items():
            q = self.at(p)
            got = len(q.read_bytes().splitlines()) if q.exists() else 0
            if got > n:
                bad.append("%s has %d lines, at most %d" % (p, got, n))
        for s in ex.get("tree_lacks", []):
            hit = [
                str(f.relative_to(self.vault))
                for f in self.vault.rglob("*")
                if re.search(s, str(f.relative_to(self.vault)))
            ]
            if hit:
                bad.append(f"path matches {s!r}: {hit[0]!r}")
        for s in ex.get("tree_has", []):
            if not any(re.search(s, str(f.relative_to(self.vault))) for f in self.vault.rglob("*")):
                bad.append(f"no path matches {s!r}")
        if ex.get("audit_lines_parse"):
            p = self.ad.audit_log(self.vault)
            lines = [l for l in p.read_bytes().split(b"\n") if l.strip()] if p.exists() else []
            ok = 0
            for l in lines:
                try:
                    json.loads(l)
                    ok += 1
                except Exception:
                    if not ex.get("audit_allow_torn"):
                        bad.append(f"audit line does not parse: {l[:80]!r}")
                        break
            if ok < ex.get("audit_min", 1):
                bad.append("only %d audit records, expected at least %d" % (ok, ex.get("audit_min", 1)))
            blob = p.read_bytes().decode("utf-8", "replace") if p.exists() else ""
            for s in ex.get("audit_contains", []):
                if s not in blob:
                    bad.append(f"audit log lacks {s!r}")
            for s in ex.get("audit_lacks", []):
                if s in blob:
                    bad.append(f"audit log contains {s!r}")

    # ---- MCP
    def mcp(self, st):
        bad, t0 = [], time.time()
        try:
            for i, a in enumerate(subst(st["dialog"], self.vars)):
                c = self.client(a.get("client", "A"), st, a)
                try:
                    r = c.act(a, self)
                except Fail as e:
                    r = str(e)
                if r and a.get("may_fail"):
                    break
                if r:
                    bad.append("action %d (%s): %s" % (i, a["do"], r))
        finally:
            for c in self.clients.values():
                bad += c.finish(st)
            self.clients = {}
        self.notes.append("dialog: %.2fs" % (time.time() - t0))
        self.after(st.get("expect", {}), bad)
        if bad:
            raise Fail("; ".join(bad))

    def client(self, name, st, a):
        if name not in self.clients:
            self.clients[name] = Client(self, st, a)
        return self.clients[name]

    def run(self):
        s = self.spec
        if "nonroot" in s.get("needs", []) and os.geteuid() == 0:
            return "SKIP", "needs a non-root user"
        if "git" in s.get("needs", []) and not shutil.which("git"):
            return "SKIP", "needs git"
        if s.get("manual") and not s["steps"]:
            return "SKIP", "manual: " + s["manual"]
        errs = []
        try:
            self.lay_out()
            self.before = {p: digest(self.at(p)) for st in s["steps"] for p in st.get("expect", {}).get("same", [])}
            for n, st in enumerate(s["steps"], 1):
                try:
                    if "op" in st:
                        self.op(st)
                    elif "hook" in st:
                        self.hook(st)
                    elif "mcp" in st:
                        self.mcp(st)
                    elif "settle" in st:
                        time.sleep(st["settle"])
                    elif "check" in st:
                        bad = []
                        self.after(st["check"], bad)
                        if bad:
                            raise Fail("; ".join(bad))
                except Fail as e:
                    errs.append("step %d: %s" % (n, e))
                except NotImplementedError:
                    return "SKIP", "adapter lacks something this case needs"
        except NotImplementedError:
            return "SKIP", "adapter lacks something this case needs"
        finally:
            for p in self.tmp.rglob("*"):
                if p.is_dir() and not p.is_symlink():
                    try:
                        os.chmod(p, 0o755)
                    except OSError:
                        pass
            if not self.keep:
                shutil.rmtree(self.tmp, ignore_errors=True)
            shutil.rmtree(self.packed, ignore_errors=True)
        if s.get("manual"):
            self.notes.append("ALSO BY HAND: " + s["manual"])
        return ("FAIL", " | ".join(errs)) if errs else ("PASS", "; ".join(self.notes))


class Client:
    """One client with its own server process."""

    def __init__(self, case, st, a):
        self.case, self.n, self.ids, self.replies, self.roots, self.rootdelay = case, 0, {}, {}, None, 0
        self.badlines, self.asked_roots, self.extra = [], 0, []
        env = case.env(st.get("env"))
        vault = Path(subst(st["vault"], case.vars)) if "vault" in st else case.vault
        env.update(case.ad.server_env(vault, Path(subst(a.get("repo", str(case.repo)), case.vars))))
        if "caller" in st:
            if not hasattr(case.ad, "caller_env"):
                raise NotImplementedError
            env.update(case.ad.caller_env(st["caller"]))
        for k, v in (st.get("env") or {}).items():
            if v is None:
                env.pop(k, None)
        argv = subst(case.ad.server_argv(vault), case.vars)
        self.pidfile = case.tmp / ("pid-%d" % id(self))
        if st.get("relay"):
            env["CASE_PIDFILE"] = str(self.pidfile)
            argv = [sys.executable, "-c", RELAY, st["relay"], *argv]
        self.err = tempfile.TemporaryFile()
        self.p = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.err,
            env=env,
            cwd=subst(a.get("cwd", str(case.repo)), case.vars),
        )
        self.q = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.p.stdout:
            if not line.strip():
                continue
            try:
                m = json.loads(line)
                if not isinstance(m, (dict, list)):
                    raise ValueError("no object")
            except Exception:
                self.badlines.append(line[:100])
                continue
            for one in m if isinstance(m, list) else [m]:
                if "method" in one and "id" in one:
                    self.server_request(one)
                elif "id" in one:
                    self.replies.setdefault(one["id"], []).append(one)
                self.q.put(one)
        self.q.put(None)

    def server_request(self, m):
        if m["method"] == "roots/list":
            self.asked_roots += 1
            r = self.roots
            if r == "never":
                return
            if r is None or r == "error":
                out = {"jsonrpc": "2.0", "id": m["id"], "error": {"code": -32601, "message": "Method not found"}}
            else:
                out = {
                    "jsonrpc": "2.0",
                    "id": m["id"],
                    "result": {"roots": [x if isinstance(x, dict) else {"uri": x} for x in r]},
                }
            threading.Timer(self.rootdelay, self.send, [out]).start()
        elif m["method"] == "ping":
            self.send({"jsonrpc": "2.0", "id": m["id"], "result": {}})
        else:
            self.send({"jsonrpc": "2.0", "id": m["id"], "error": {"code": -32601, "message": "Method not found"}})

    def send(self, m):
        self.raw((json.dumps(m) + "\n").encode())

    def raw(self, b):
        try:
            self.p.stdin.write(b)
            self.p.stdin.flush()
        except (OSError, ValueError):
            pass

    def wait(self, mid, within):
        end = time.time() + within * SLOW
        while time.time() < end:
            if mid in self.replies:
                return self.replies[mid][0]
            if self.p.poll() is not None and mid not in self.replies:
                time.sleep(0.2)
                return self.replies.get(mid, [None])[0]
            time.sleep(0.02)
        return None

    def request(self, method, params):
        self.n += 1
        self.send({"jsonrpc": "2.0", "id": self.n, "method": method, "params": params})
        return self.n

    def act(self, a, case):
        k = a["do"]
        if k == "roots":
            self.roots, self.rootdelay = a["reply"], a.get("delay", 0)
        elif k == "init":
            i = self.request(
                "initialize",
                {
                    "protocolVersion": a.get("protocol", "2025-06-18"),
                    "capabilities": a.get("caps", {}),
                    "clientInfo": {"name": a.get("name", "case-client"), "version": "1"},
                },
            )
            r = self.wait(i, a.get("within", 10))
            if r is None:
                return "no answer to initialize within {}s; stderr: {}".format(a.get("within", 10), self.errtext())
            if "error" in r:
                return "initialize refused: {}".format(r["error"])
            if not a.get("skip_initialized"):
                self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        elif k == "call":
            name, args = case.ad.tool_call(a["tool"], subst(a.get("args", {}), case.got))
            self.ids[a.get("id", a["tool"])] = self.request("tools/call", {"name": name, "arguments": args})
        elif k == "call_file":
            d = json.loads((case.dir / a["file"]).read_text(encoding="utf-8"))
            name, args = case.ad.tool_call(a["tool"], d)
            self.ids[a.get("id", a["tool"])] = self.request("tools/call", {"name": name, "arguments": args})
        elif k == "call_big":
            args = dict(a["args"])
            args[a["field"]] = a["unit"] * (a["bytes"] // len(a["unit"].encode()))
            name, args = case.ad.tool_call(a["tool"], args)
            self.ids[a["id"]] = self.request("tools/call", {"name": name, "arguments": args})
        elif k == "method":
            self.ids[a["id"]] = self.request(a["method"], a.get("params", {}))
        elif k == "raw":
            self.raw(a["line"].encode("utf-8", "surrogatepass") + b"\n")
        elif k == "raw_hex":
            self.raw(bytes.fromhex(a["hex"]) + b"\n")
        elif k == "cancel":
            self.send(
                {
                    "jsonrpc": "2.0",
                    "method": "notifications/cancelled",
                    "params": {"requestId": self.ids[a["id"]], "reason": "user"},
                }
            )
        elif k == "notify":
            self.send({"jsonrpc": "2.0", "method": a["method"], "params": a.get("params", {})})
        elif k == "sleep":
            time.sleep(a["s"])
        elif k == "op":
            case.op(a["setup"])
        elif k == "close_stdin":
            self.p.stdin.close()
        elif k == "kill_client":
            self.serverpid = int(self.pidfile.read_text().split()[0])
            os.kill(self.p.pid, signal.SIGKILL)
        elif k == "kill_server":
            os.kill(self.p.pid, signal.SIGKILL)
        elif k == "expect_exit":
            end = time.time() + a.get("within", 5) * SLOW
            while time.time() < end:
                pid = getattr(self, "serverpid", None)
                if pid is None:
                    if self.p.poll() is not None:
                        return
                else:
                    try:
                        with open("/proc/%d/stat" % pid) as f:
                            if f.read().rsplit(")", 1)[1].split()[0] == "Z":
                                return
                    except OSError:
                        return
                time.sleep(0.1)
            if getattr(self, "serverpid", None):
                try:
                    os.kill(self.serverpid, signal.SIGKILL)
                except OSError:
                    pass
            return "server still running after {}s".format(a.get("within", 5))
        elif k == "expect_no_reply":
            time.sleep(a.get("within", 1.5))
            got = self.replies.get(self.ids[a["id"]])
            if got and not (a.get("result_ok") and "result" in got[0]):
                return f"unexpected reply: {str(got[0])[:150]}"
        elif k == "expect":
            r = self.wait(self.ids[a["id"]], a.get("within", 10))
            if r is None:
                return "no reply within {}s; stderr: {}".format(a.get("within", 10), self.errtext())
            if len(self.replies[self.ids[a["id"]]]) > 1:
                return "more than one reply"
            blob = json.dumps(r, ensure_ascii=False)
            err = "error" in r or bool(isinstance(r.get("result"), dict) and r["result"].get("isError"))
            if "is_error" in a and err != a["is_error"]:
                return "is_error={}, wanted {}: {}".format(err, a["is_error"], blob[:250])
            sc = r.get("result", {}).get("structuredContent") if isinstance(r.get("result"), dict) else None
            if sc is not None and not isinstance(sc, dict):
                return "structuredContent is no object"
            texts = (
                [c.get("text", "") for c in (r.get("result") or {}).get("content", []) if isinstance(c, dict)]
                if isinstance(r.get("result"), dict)
                else []
            )
            plain = (
                "\n".join(texts)
                + ("\n" + json.dumps(sc, ensure_ascii=False) if sc else "")
                + ("\n" + r["error"]["message"] if "error" in r else "")
            )
            for s in a.get("contains", []):
                if s not in plain:
                    return f"lacks {s!r}: {plain[:200]}"
            if a.get("contains_any") and not any(s in plain for s in a["contains_any"]):
                return "has none of {!r}: {}".format(a["contains_any"], plain[:200])
            for s in a.get("lacks", []):
                if s in plain:
                    return f"contains {s!r}"
            for s in a.get("lacks_re", []):
                if re.search(s, plain, re.I | re.S):
                    return f"matches {s!r}"
            if "capture" in a:
                m = re.search(subst(a["capture"]["re"], case.vars), plain)
                if not m:
                    return "found nothing like {!r}: {}".format(a["capture"]["re"], plain[:200])
                case.got[a["capture"]["var"]] = m.group(1)
            if "max_bytes" in a and len(plain.encode()) > a["max_bytes"]:
                return "%d bytes of result, at most %d allowed" % (len(plain.encode()), a["max_bytes"])
            if "count" in a:
                n = plain.count(a["count"]["of"])
                if n > a["count"]["max"]:
                    return "%r appears %d times" % (a["count"]["of"], n)
        else:
            return "unknown action"

    def errtext(self):
        self.err.seek(0)
        return self.err.read().decode("utf-8", "replace").strip()[-200:]

    def finish(self, st):
        bad = []
        if self.badlines:
            bad.append(f"server wrote something else than JSON-RPC to stdout: {self.badlines[0]!r}")
        try:
            self.p.stdin.close()
        except (OSError, ValueError):
            pass
        try:
            self.p.wait(5 * SLOW)
        except subprocess.TimeoutExpired:
            bad.append("server did not stop within 5s of stdin closing")
            self.p.kill()
        for pipe in (self.p.stdout, self.err):
            pipe.close()
        if self.pidfile.exists():
            for pid in map(int, self.pidfile.read_text().split()):
                try:
                    if pid > 0:
                        os.kill(pid, signal.SIGKILL)
                except OSError:
                    pass
        return bad
