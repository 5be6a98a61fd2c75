/** The text of a PDF, page by page. Drawings and images are not read, and no script of the file runs. */
import { getDocumentProxy } from 'unpdf';
import { DOCUMENT_LIMITS, DocumentText, Unreadable } from './limits.ts';

/** Throws `Unreadable`. */
export async function pdfText(bytes: Uint8Array): Promise<DocumentText> {
  const text = new DocumentText();
  try {
    const pdf = await getDocumentProxy(bytes, {
      disableFontFace: true,
      verbosity: 0,
    });
    if (pdf.numPages > DOCUMENT_LIMITS.pages)
      text.note = `Only the first ${DOCUMENT_LIMITS.pages} pages were added.`;
    for (let number = 1; number <= Math.min(pdf.numPages, DOCUMENT_LIMITS.pages) && !text.isFull; number++) {
      const page = await pdf.getPage(number);
      const { items } = await page.getTextContent();
      text.begin(`Page ${number}`);
      for (const item of items) {
        if (!('str' in item)) continue;
        text.add(item.str);
        if (item.hasEOL) text.add('\n');
      }
      page.cleanup();
    }
  } catch (thrown) {
    const hasPassword = thrown instanceof Error && thrown.name === 'PasswordException';
    throw new Unreadable(hasPassword ? 'it has a password. Save it again without.' : 'it is damaged.', {
      cause: thrown,
    });
  }
  return text;
}
