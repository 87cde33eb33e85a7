import sys
sys.path.insert(0,"/work/main/tests/assets")
import test_building as tb
from tiny_corpus import write_tiny_corpus
def one(data):
    write_tiny_corpus(data)
    r=tb.build()
    import definitions
    print("DATA",data,"DEF",definitions.workspace.data, r.success, r.error[:200])
def test_a(data): one(data)
def test_b(data): one(data)
def test_c(data): one(data)
