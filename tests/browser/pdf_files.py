"""PDF files."""

from __future__ import annotations

A4 = (595, 842)


def make_pdf(pages: int, about: str = "Page", wide: int = 0) -> bytes:
    """So many pages of A4 with one line of text each, in a font that is not in the file.

    @param wide: the number of the one page that lies on its side.
    """
    leaves = []
    for page in range(1, pages + 1):
        width, height = A4[::-1] if page == wide else A4
        box = f"/MediaBox[0 0 {width} {height}]"
        words = f"BT /F 48 Tf 60 {height - 120} Td ({about} {page}) Tj ET"
        leaves.append((box, words))
    return assemble_pdf(leaves, "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>")


def assemble_pdf(leaves: list[tuple[str, str]], font: str, catalog: str = "") -> bytes:
    """A file of these pages.

    @param leaves: of each page, what its dictionary holds beside, and its drawing.
    @param font: the dictionary of C{/F}.
    @param catalog: what the document's dictionary holds beside.
    """
    first = 4
    kids = " ".join(f"{first + 2 * at} 0 R" for at in range(len(leaves)))
    objects = [
        f"<</Type/Catalog/Pages 2 0 R{catalog}>>",
        f"<</Type/Pages/Kids[{kids}]/Count {len(leaves)}>>",
        font,
    ]
    for at, (extra, drawing) in enumerate(leaves):
        content = first + 2 * at + 1
        drawn = f"/Contents {content} 0 R/Resources<</Font<</F 3 0 R>>>>"
        objects.append(f"<</Type/Page/Parent 2 0 R{drawn}{extra}>>")
        objects.append(f"<</Length {len(drawing)}>>stream\n{drawing}\nendstream")
    return _with_table(objects)


def _with_table(objects: list[str]) -> bytes:
    whole, places = "%PDF-1.7\n", []
    for number, each in enumerate(objects, 1):
        places.append(len(whole))
        whole += f"{number} 0 obj {each} endobj\n"
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    size = len(objects) + 1
    return (
        f"{whole}xref\n0 {size}\n0000000000 65535 f \n{table}"
        f"trailer<</Root 1 0 R/Size {size}>>\nstartxref\n{len(whole)}\n%%EOF\n"
    ).encode()


HOSTILE_FONT = (
    "<</Type/Font/Subtype/Type1/BaseFont/Own/FirstChar 65/LastChar 66/Widths[600 600]"
    "/FontMatrix[1 0 0 1 0 (0\\); alert\\(21\\)//)]"
    "/FontDescriptor<</Type/FontDescriptor/FontName/Own/Flags 4/FontBBox[0 0 1 1]/ItalicAngle 0"
    "/Ascent 1/Descent 0/CapHeight 1/StemV 1>>>>"
)


def make_hostile_pdf() -> bytes:
    """Scripts, links and forms wherever the format has a place for them."""
    script = "/S/JavaScript/JS(app.alert\\(22\\);alert\\(23\\))"
    link = "<</Type/Annot/Subtype/Link/Rect[0 0 200 200]/A"
    notes = (
        f"/Annots[{link}<</S/URI/URI(javascript:alert\\(24\\))>>>>"
        f"{link}<</S/Launch/F(//elsewhere.invalid/x)>>>>"
        "<</Type/Annot/Subtype/Widget/FT/Tx/T(a)/Rect[0 0 99 99]"
        f"/AA<</E<<{script}>>/U<<{script}>>>>>>]"
    )
    leaf = (
        f"/MediaBox[0 0 200 200]/AA<</O<<{script}>>>>{notes}",
        "BT /F 20 Tf 9 99 Td (AB) Tj ET",
    )
    names = f"/Names<</JavaScript<</Names[(x)<<{script}>>]>>>>"
    form = "/AcroForm<</XFA(<x onload='alert\\(25\\)'/>)/Fields[]>>"
    return assemble_pdf([leaf], HOSTILE_FONT, f"/OpenAction<<{script}>>{names}{form}")
