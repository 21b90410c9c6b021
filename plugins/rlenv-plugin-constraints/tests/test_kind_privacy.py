"""Web addresses and personal data: found in disguise, and not where there are none."""

from __future__ import annotations

from typing import Any

import pytest
from growth import assert_linear
from hypothesis import given
from hypothesis import strategies as st
from rlenv.model.errors import ConfigError
from rlenv_plugin_constraints.kinds.pii import NoPii, iban_holds, luhn
from rlenv_plugin_constraints.kinds.urls import NoUrls
from rlenv_plugin_constraints.text import Text

URLS = [
    "http://x.y",
    "see https://example.com/a.",
    "www.example.com",
    "example.com",
    "Visit example.com.",
    "hxxps://evil[.]com",
    "example[.]com",
    "example (dot) com",
    "example(dot)com",
    "go to example dot com now",
    "exam\u200bple.com",
    "example\uff0ecom",
    "ｗｗｗ．example．com",
    "ехаmple.соm",
    "youtu.be/abc",
    "t.me/x",
    "[x](https://a.b/c)",
    "ftp://files.x",
    "//cdn.example.com/x",
    "example。com",
    "sub.domain.co.uk/path",
    "http ://example.com",
    "https:/\u200b/example.com",
    "WWW.EXAMPLE.COM",
    "192.168.1.1/admin",
    "localhost:8080",
    "mailto:a@b.co",
    "http:\\\\example.com",
    "www . example . com",
    "münchen.de",
    "example.com:8080",
    "git@github.com:me/x",
    "javascript:alert(1)",
    "**example.com**",
    "_example.com_",
    "example.COM",
]
NO_URLS = [
    "version 1.2.3",
    "README.md",
    "main.py and lib.rs",
    "e.g. this",
    "i.e.the",
    "U.S.A.",
    "Node.js",
    "end.In the",
    "It is.it",
    "3.14",
    "a/b",
    "and/or",
    "std::vector",
    "12:30",
    "joe@example.com",
    "the dot com boom",
    "ASP.NET",
    "file.txt",
    "Mr.Smith",
    "data: none",
    "object.method()",
    "self.io",
    "x.com_y",
    "etc...and",
    "key:value",
    "http",
    "see section 2.1.",
    "os.path.join",
    "np.app",
    "C:/Users",
    "1.co",
    "// comment here",
    "script.sh",
    "St.Louis",
    "",
    "\ud800",
]


@pytest.mark.parametrize("text", URLS)
def test_an_address_is_found(text: str) -> None:
    assert not NoUrls().check(Text(text)).satisfied
    assert not NoUrls().check(Text(f"Some words before ({text}), and after.")).satisfied


@pytest.mark.parametrize("text", NO_URLS)
def test_what_is_no_address(text: str) -> None:
    assert NoUrls().check(Text(text)).satisfied


def test_allowed_hosts_and_places() -> None:
    rule = NoUrls(allow=("example.com",))
    assert rule.check(Text("https://docs.example.com/a")).satisfied
    assert not rule.check(Text("https://example.com.evil.org")).satisfied
    assert not rule.check(Text("https://example.com@evil.org/")).satisfied
    assert not rule.check(Text("https://badexample.com")).satisfied
    assert NoUrls().check(Text("Go to example.com now")).spans == ((6, 17),)
    found = NoUrls().check(Text("é exam\u200bple.com"))
    assert found.spans
    assert all(0 <= a < b <= 14 for a, b in found.spans)
    with pytest.raises(ConfigError):
        NoUrls(allow=("https://example.com",))


DATA = {
    "email": [
        "joe@example.com",
        "joe [at] example [dot] com",
        "joe(at)example.com",
        "joe at example dot com",
        "ｊoe@example.com",
        "joe\u200b@example.com",
        "jоe@example.cоm",
        "joe@münchen.de",
        "joe@ex\u00adample.com",
        "JOE.B+x@EXAMPLE.CO.UK",
    ],
    "phone": [
        "call me: 5551234567",
        "+49 30 1234567",
        "(555) 234-5678",
        "555-234-5678",
        "020 7946 0958",
        "+1 (212) 555-0123",
        "01 23 45 67 89",
        "0171/1234567",
        "+1.212.555.0123",
        "phone 555 0199 22",
    ],
    "card": [
        "4111 1111 1111 1111",
        "4111111111111111",
        "4111-1111-1111-1111",
        "４１１１ １１１１ １１１１ １１１１",
        "٤١١١ ١١١١ ١١١١ ١١١١",
        "5500.0000.0000.0004",
        "378282246310005",
        "3782 822463 10005",
    ],
    "iban": ["DE89 3704 0044 0532 0130 00", "GB82WEST12345698765432", "de89370400440532013000"],
    "ssn": ["123-45-6789", "SSN: 123456789", "123 45 6789"],
    "ip": [
        "8.8.8.8",
        "2001:db8::1",
        "fe80::1ff:fe23:4567:890a",
        "IP: 10.0.0.1:8080",
        "the server 8.8.8.8",
        "2001:0db8:0000:0000:0000:ff00:0042:8329",
    ],
}
NO_DATA = [
    "version 1.2.3.4",
    "v10.0.0.1",
    "ISBN 978-3-16-148410-0",
    "ISBN-10: 0-306-40615-2",
    "2024-01-15",
    "01.02.2024",
    "1234567890",
    "3.14159265358979",
    "12:30:45",
    "127.0.0.1",
    "std::vector",
    "1,000,000,000",
    "1000000000000",
    "10 000 000",
    "a::b",
    "pages 100-200",
    "2024-01-15 12:30:45",
    "dead::beef",
    "1 2 3 4 5 6 7 8 9 10",
    "0.1234567890",
    "@user",
    "5 at home",
    "0-306-40615-2",
    "9783161484100",
    "2020-2021 2022-2023",
    "4111 1111 1111 1112",
    "DE89 but no more",
    "DE89 3704 0044 0532 0130 01",
    "ver 8.8.8.8",
    "123-45-678",
    "000-12-3456",
    "1999/2000",
    "12345678901234567890",
    "phone: none",
    "0001 0010 0100 1000",
    "255.255.255.0",
    "",
    "\ud800",
]


@pytest.mark.parametrize(("kind", "text"), [(k, t) for k, texts in DATA.items() for t in texts])
def test_personal_data_is_found(kind: str, text: str) -> None:
    for written in (text, f"Write to {text}, please."):
        found = NoPii().check(Text(written))
        assert not found.satisfied
        assert kind in found.measured
        assert all(0 <= a < b <= len(written) for a, b in found.spans)
    assert NoPii(only=(kind,), allow=(text,)).check(Text("nothing")).satisfied


@pytest.mark.parametrize("text", NO_DATA)
def test_what_is_no_personal_data(text: str) -> None:
    assert NoPii().check(Text(text)).satisfied


@given(st.text("0123456789", min_size=12, max_size=18))
def test_one_digit_of_ten_makes_luhns_sum(digits: str) -> None:
    assert sum(luhn(digits + last) for last in "0123456789") == 1


@given(st.integers(0, 10**18 - 1))
def test_check_digits_of_accounts(account: int) -> None:
    body = f"{account:018}"
    check = 98 - int(body + "131400") % 97  # DE00
    assert iban_holds(f"DE{check:02}{body}")
    assert not iban_holds(f"DE{(check + 1) % 100:02}{body}")


@pytest.mark.parametrize("options", [{"only": ("emial",)}, {"only": ()}])
def test_kinds_that_there_are_not(options: Any) -> None:
    with pytest.raises(ConfigError):
        NoPii(**options)


@given(st.text(max_size=200))
def test_every_text_gets_an_answer(text: str) -> None:
    for found in (NoUrls().check(Text(text)), NoPii().check(Text(text))):
        assert all(0 <= a <= b <= len(text) for a, b in found.spans)


@pytest.mark.parametrize(
    "unit", ["a.", "1 ", "a@", "www.", ":", "1.1.", "joe@example.com ", "a at "]
)
@pytest.mark.parametrize("rule", [NoUrls(), NoPii()], ids=["urls", "pii"])
def test_work_grows_with_the_text_and_no_faster(rule: Any, unit: str) -> None:
    assert_linear(lambda text: rule.check(Text(text)), unit)
