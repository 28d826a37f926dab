"""Organisers who act at the same moment: each is told what came of its own request."""

from __future__ import annotations

from webhouse import CONTESTS, House


def test_who_takes_a_match_back_is_told_what_that_made(home: House) -> None:
    """Like all who change a contest: not what another organiser, who cancels it, makes of it a moment later."""
    home.contest("cup", bots=("a", "b"))
    match_id = home.play("a", "b", "a", "cup", n=1)
    home.organise("POST", "/cup/finish")

    def somebody_cancels(game: str, contest: str) -> None:
        assert home.organise("DELETE", f"/{contest}").status_code == 200

    # it is asked once the match is taken back, and before there is an answer
    home.context.organiser.ask_pairing = somebody_cancels
    answer = home.organise("POST", f"/cup/games/{match_id}/void", {"reason": "the server's clock"})
    assert (answer.status_code, answer.json["contest"]["state"]) == (200, "running")
    assert home.client.get(f"{CONTESTS}/cup").json["state"] == "cancelled"
