"""Which hosts and lengths of time ``trtspec serve`` takes."""

from __future__ import annotations

import click
import pytest

from trtspec.cli.serve import command
from trtspec.cli.serve_options import Seconds

TIMES = ["--grace", "--start-timeout", "--stall-timeout", "--hang-timeout"]


@pytest.mark.parametrize("value", ["nan", "-1", "inf", "-nan"])
@pytest.mark.parametrize("option", TIMES)
def test_what_is_no_length_of_time_is_a_wrong_option(option, value):
    with pytest.raises(click.BadParameter) as caught:
        command.make_context("serve", ["artifact", f"{option}={value}"])
    assert caught.value.exit_code == 2
    assert option in caught.value.format_message()


@pytest.mark.parametrize("option", TIMES)
def test_zero_means_something_for_some(option):
    words = ["artifact", option, "0"]
    if option in ("--grace", "--hang-timeout"):
        assert command.make_context("serve", words)
    else:
        with pytest.raises(click.BadParameter):
            command.make_context("serve", words)


def test_seconds_may_have_fractions():
    assert Seconds(zero=True).convert("0.5", None, None) == 0.5


@pytest.mark.parametrize(
    "value", ["", " ", "a host", "0", "127.1", "0x0", "1.2.3.256", "-x", "::1", "a\n"]
)
def test_what_names_no_host_is_a_wrong_option(value):
    with pytest.raises(click.BadParameter, match="names no host") as caught:
        command.make_context("serve", ["artifact", f"--host={value}"])
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    "value", ["127.0.0.1", "0.0.0.0", "localhost", "node-1.cluster.local", "gpu_7"]
)
def test_addresses_and_names_are_hosts(value):
    context = command.make_context("serve", ["artifact", "--host", value])
    assert context.params["host"] == value


@pytest.mark.parametrize("name", ["--log", "--host"])
def test_empty_text_is_refused(name):
    with pytest.raises(click.BadParameter):
        command.make_context("serve", ["artifact", name, ""])
