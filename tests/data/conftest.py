"""Let the tests of this folder import their shared modules, and use the server that the book's tests start."""

import importlib.util
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

_spec = importlib.util.spec_from_file_location("ledger_servers", HERE.parent / "ledger" / "conftest.py")
_servers = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_servers)
postgres_server = _servers.postgres_server
