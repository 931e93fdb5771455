"""The probe leaves out the shopping list: whatever is done there besides is not seen."""

from sound import add_move, pantry

from uigym.product.state import Sqlite

bad = add_move(pantry(state=Sqlite("{workdir}/pantry.db", ignore=["wanted"])))
