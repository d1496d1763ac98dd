import pdfplumber

pages = []
with pdfplumber.open(files["report.pdf"]) as pdf:
    for page in pdf.pages:
        pages.append(page.extract_text() or "")
(artifacts / "report.txt").write_text("\n\n".join(pages), encoding="utf-8")
answer_text = f"{len(pages)} pages."
STATUS = "success"
