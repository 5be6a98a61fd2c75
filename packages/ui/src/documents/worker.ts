/** Reads a document in a worker, which may load and send nothing. One message in, one out. */
import { type DocumentText, Unreadable } from './limits.ts';
import { officeText } from './office.ts';
import { pdfText } from './pdf.ts';
import type { DocumentAnswer, DocumentQuestion } from './read-document.ts';

addEventListener('message', async ({ data: { bytes, kind } }: MessageEvent<DocumentQuestion>) => {
  const answer = (message: DocumentAnswer): void => postMessage(message);
  try {
    const text: DocumentText = kind === 'pdf' ? await pdfText(bytes) : officeText(bytes, kind);
    answer({ isAnswer: true, text: text.toString(), note: text.note });
  } catch (thrown) {
    // What a library throws about hostile data can be anything.
    answer({ isAnswer: true, problem: thrown instanceof Unreadable ? thrown.message : 'it is damaged.' });
  }
});
