/** The text of a document that was attached, read in a worker that is stopped after some seconds. */
import { DOCUMENT_LIMITS, Unreadable } from './limits.ts';
import type { OfficeKind } from './office.ts';

/** Address of the worker; set by the build of the console. */
declare const DOCUMENT_WORKER: string;

export type DocumentKind = 'pdf' | OfficeKind;
export type DocumentQuestion = { readonly bytes: Uint8Array<ArrayBuffer>; readonly kind: DocumentKind };
export type DocumentAnswer = { readonly isAnswer: true } & (
  | { readonly text: string; readonly note: string | null }
  | { readonly problem: string }
);

/** By the end of its name, such as `.pdf`; null for anything else. */
export const documentKind = (name: string): DocumentKind | null =>
  (/\.(pdf|docx|pptx|xlsx)$/.exec(name.toLowerCase())?.[1] as DocumentKind | undefined) ?? null;

export type ReadDocument = { readonly text: string; readonly note: string | null };

/** Throws `Unreadable`. */
export async function readDocument(
  bytes: Uint8Array<ArrayBuffer>,
  kind: DocumentKind,
  address = typeof DOCUMENT_WORKER === 'undefined' ? null : DOCUMENT_WORKER,
  limitMs: number = DOCUMENT_LIMITS.milliseconds,
): Promise<ReadDocument> {
  if (address === null) throw new Unreadable('documents can be attached in the console.');
  const { promise, resolve, reject } = Promise.withResolvers<DocumentAnswer>();
  const worker = new Worker(address, { type: 'module' });
  const timer = setTimeout(() => reject(new Unreadable('reading it takes too long.')), limitMs);
  // The library for PDF has messages of its own.
  worker.onmessage = ({ data }: MessageEvent<Partial<DocumentAnswer>>) => {
    if (data.isAnswer) resolve(data as DocumentAnswer);
  };
  // Such as no memory left.
  worker.onerror = () => reject(new Unreadable('it cannot be read.'));
  try {
    worker.postMessage({ bytes, kind } satisfies DocumentQuestion, [bytes.buffer]);
    const answer = await promise;
    if ('problem' in answer) throw new Unreadable(answer.problem);
    if (!/\S/.test(answer.text.replace(/^\[.*\]$/gm, '')))
      throw new Unreadable('it has no text. Attach images of its pages, if it is a scan.');
    return answer;
  } finally {
    clearTimeout(timer);
    worker.terminate();
  }
}
