"""Every page that the package has, as a task with its skills and its difficulty."""

from __future__ import annotations

from uigym.harnesses.miniwob.product import add

GROUPS: tuple[tuple[tuple[str, ...], int, str], ...] = (
    (("navigate", "easy"), 10, """
        click-button click-button-sequence click-color click-dialog click-dialog-2 click-link click-tab click-test
        click-test-2 click-test-transfer click-widget focus-text focus-text-2 grid-coordinate hover-shape unicode-test"""),
    (("navigate", "medium"), 20, """
        ascending-numbers button-delay click-collapsible click-collapsible-2 click-collapsible-2-nodelay
        click-collapsible-nodelay click-menu click-menu-2 click-pie click-pie-nodelay click-shape click-tab-2
        click-tab-2-easy click-tab-2-hard click-tab-2-medium navigate-tree"""),
    (("navigate", "hard"), 40, "chase-circle drag-cube hot-cold moving-items simon-says tic-tac-toe"),
    (("compare", "easy"), 10, "count-shape count-sides find-greatest identify-shape"),
    (("compare", "medium"), 20, """
        bisect-angle buy-ticket circle-center click-shades find-midpoint generate-number guess-number odd-or-even
        right-angle stock-market visual-addition"""),
    (("form", "easy"), 12, """
        choose-list click-checkboxes click-checkboxes-soft click-checkboxes-transfer click-option enter-password
        enter-text enter-text-2 enter-text-dynamic login-user simple-algebra simple-arithmetic"""),
    (("form", "medium"), 30, """
        click-checkboxes-large click-scroll-list form-sequence form-sequence-2 form-sequence-3 login-user-popup
        multi-layouts multi-orderings number-checkboxes order-food sign-agreement use-autocomplete
        use-autocomplete-nodelay use-colorwheel use-colorwheel-2 use-slider use-slider-2 use-spinner"""),
    (("form", "multi-step", "hard"), 50, "book-flight book-flight-nodelay"),
    (("date", "easy"), 15, "enter-date enter-time"),
    (("date", "medium"), 40, "choose-date choose-date-easy choose-date-medium choose-date-nodelay daily-calendar"),
    (("edit", "easy"), 15, "copy-paste copy-paste-2 highlight-text highlight-text-2 text-transform"),
    (("rich-text", "medium"), 20, "text-editor"),
    (("edit", "multi-step", "medium"), 40, "terminal"),
    (("find", "easy"), 15, "find-word scroll-text scroll-text-2"),
    (("find", "multi-step", "medium"), 30, """
        email-inbox email-inbox-delete email-inbox-forward email-inbox-forward-nl email-inbox-forward-nl-turk
        email-inbox-important email-inbox-nl-turk email-inbox-noscroll email-inbox-reply email-inbox-star-reply phone-book
        search-engine social-media social-media-all social-media-some"""),
    (("table", "easy"), 15, "read-table read-table-2"),
    (("drag", "medium"), 20, """
        drag-box drag-circle drag-items drag-items-grid drag-shapes drag-shapes-2 drag-single-shape drag-sort-numbers
        draw-circle draw-line resize-textarea"""),
)  # fmt: skip
"""(tags, actions at most unless the oracle says how many are needed, names)."""

for tags, max_steps, names in GROUPS:
    for name in names.split():
        add(name, *tags, max_steps=max_steps)
