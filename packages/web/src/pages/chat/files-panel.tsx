/**
 * The files of a session's working folder, beside the chat: folders, one file with a preview, and what calls of the session have made
 * of it. Everything in a file is untrusted: pages run in a frame that reaches nothing, pictures and texts run nothing.
 */
import type { SessionId } from '@parlance/protocol';
import type { FileList, FileVersion, ListedFile } from '@parlance/sdk';
import { size } from '@parlance/ui/chat/attachments.ts';
import { namedPath } from '@parlance/ui/chat/mention.ts';
import { closeFiles, mention, openFiles, previewKind, type ShownFiles } from '@parlance/ui/chat/preview.ts';
import { Previewed } from '@parlance/ui/chat/preview-panel.tsx';
import {
  attempt,
  Button,
  download,
  Empty,
  Icon,
  IconButton,
  Notice,
} from '@parlance/ui/components/controls.tsx';
import { Picture } from '@parlance/ui/components/dialog.tsx';
import { Unreadable } from '@parlance/ui/documents/limits.ts';
import { documentKind, readDocument } from '@parlance/ui/documents/read-document.ts';
import { Code } from '@parlance/ui/markdown/code-block.tsx';
import { hrefOf } from '@parlance/ui/state/router.ts';
import { parlance } from '@parlance/ui/state/server.ts';
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from 'react';

export function FilesPanel({ session, path, isFile }: ShownFiles) {
  const panel = useRef<HTMLElement>(null);
  useEffect(() => panel.current?.focus({ preventScroll: true }), []);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') closeFiles();
  };
  const id = session as SessionId;
  return (
    <aside className="preview files" aria-label="Files" tabIndex={-1} ref={panel} onKeyDown={onKeyDown}>
      {isFile ? <FileView key={path} session={id} path={path} /> : <FolderView session={id} path={path} />}
    </aside>
  );
}

/** What is read anew when the key changes; null while it is read for the first time. */
function useRead<Value>(
  key: string,
  read: (signal: AbortSignal) => Promise<Value>,
): { readonly value: Value | null; readonly problem: string | null } {
  const [state, setState] = useState<{ value: Value | null; problem: string | null }>({
    value: null,
    problem: null,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the caller names what it depends on
  useEffect(() => {
    const stop = new AbortController();
    read(stop.signal).then(
      (value) => !stop.signal.aborted && setState({ value, problem: null }),
      (thrown: unknown) =>
        !stop.signal.aborted &&
        setState({ value: null, problem: thrown instanceof Error ? thrown.message : '' }),
    );
    return () => stop.abort();
  }, [key]);
  return state;
}

// A folder.

type Place = { readonly session: SessionId; readonly path: string };

const join = (folder: string, name: string): string => (folder === '.' ? name : `${folder}/${name}`);

function FolderView({ session, path }: Place) {
  const [wanted, setWanted] = useState('');
  const [reads, setReads] = useState(0);
  const q = wanted.trim();
  const { value, problem } = useRead<FileList>(JSON.stringify([session, path, q, reads]), (signal) =>
    parlance.files.list({ session, signal, ...(q === '' ? { path } : { q }) }),
  );
  const paths = value?.paths;
  const isEmpty = value && (paths ?? value.entries ?? []).length === 0;
  return (
    <>
      <div className="preview-head">
        <h2>Files</h2>
        <IconButton icon="retry" label="Read again" onClick={() => setReads(reads + 1)} />
        <IconButton icon="close" label="Close files" onClick={closeFiles} />
      </div>
      <div className="search">
        <Icon name="search" />
        <input
          type="search"
          aria-label="Find a file"
          placeholder="Find a file"
          value={wanted}
          onChange={(event) => setWanted(event.target.value)}
        />
      </div>
      {q === '' && <Crumbs session={session} path={path} />}
      {problem !== null && <Notice variant="warning">{problem}</Notice>}
      {isEmpty && <Empty title={q === '' ? 'This folder is empty' : 'No file found'}>{null}</Empty>}
      <ul className="file-list" aria-label={q === '' ? 'Folder' : 'Found files'}>
        {q === ''
          ? value?.entries?.map((entry) => (
              <FileRow key={entry.name} session={session} path={join(path, entry.name)} entry={entry} />
            ))
          : paths?.map((found) => <FoundRow key={found} session={session} path={found} />)}
      </ul>
      {value?.complete === false && (
        <p className="hint">
          {q === ''
            ? 'There are more: find them by their names.'
            : 'The folder is large: not all of it was searched.'}
        </p>
      )}
    </>
  );
}

/** The way back to the working folder. */
function Crumbs({ session, path }: Place) {
  const names = path === '.' ? [] : path.split('/');
  if (names.length === 0) return null;
  return (
    <nav className="file-crumbs" aria-label="Folder path">
      <button type="button" onClick={() => openFiles(session)}>
        Working folder
      </button>
      {names.map((name, index) => {
        const to = names.slice(0, index + 1).join('/');
        return (
          <span key={to}>
            <span aria-hidden="true">/</span>
            {index < names.length - 1 ? (
              <button type="button" onClick={() => openFiles(session, to)}>
                {name}
              </button>
            ) : (
              <strong>{name}</strong>
            )}
          </span>
        );
      })}
    </nav>
  );
}

function FileRow({ session, path, entry }: Place & { readonly entry: ListedFile }) {
  const { name, kind, size: bytes, changedAt } = entry;
  const isFolder = kind === 'folder';
  return (
    <li>
      <button
        type="button"
        className="file-open"
        disabled={kind === 'other'}
        title={`Changed ${new Date(changedAt).toLocaleString()}`}
        onClick={() => openFiles(session, path, !isFolder)}
      >
        <Icon name={isFolder ? 'folder' : kind === 'link' ? 'link' : 'file'} />
        <span className="file-name">{name}</span>
        {bytes !== undefined && <span className="file-size">{bytes === 0 ? 'empty' : size(bytes)}</span>}
      </button>
      <MentionButton path={isFolder ? `${path}/` : path} />
    </li>
  );
}

function FoundRow({ session, path }: Place) {
  const { label, about } = namedPath(path);
  const isFolder = path.endsWith('/');
  return (
    <li>
      <button
        type="button"
        className="file-open"
        onClick={() => openFiles(session, path.replace(/\/$/, ''), !isFolder)}
      >
        <Icon name={isFolder ? 'folder' : 'file'} />
        <span className="file-name">{label}</span>
        <span className="file-size">{about}</span>
      </button>
      <MentionButton path={path} />
    </li>
  );
}

/** Without room beside the chat, the panel covers the message. */
function mentioned(path: string): void {
  if (matchMedia('(min-width: 1101px)').matches) mention(path);
  else {
    closeFiles();
    requestAnimationFrame(() => mention(path));
  }
}

const MentionButton = ({ path }: { readonly path: string }) => (
  <IconButton
    icon="mention"
    label={`Mention ${path}`}
    title="Name it in the message"
    onClick={() => mentioned(path)}
  />
);

// A file.

/** The beginning of a longer text is shown. */
const SHOWN_BYTES = 1024 * 1024;
/** Pictures and documents are loaded whole. */
const LOADED_BYTES = 20 * 1024 * 1024;

const IMAGES: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
  bmp: 'image/bmp',
  ico: 'image/x-icon',
};

const endingOf = (path: string): string => /\.([^./]+)$/.exec(path)?.[1]?.toLowerCase() ?? '';

type Content =
  | { readonly kind: 'text'; readonly text: string; readonly note: string | null }
  | { readonly kind: 'image'; readonly image: Blob }
  | { readonly kind: 'none'; readonly why: string };

async function contentOf(place: Place, version: string | undefined, signal: AbortSignal): Promise<Content> {
  const query = { ...place, ...(version !== undefined && { version }), signal };
  const ending = endingOf(place.path);
  const document = documentKind(place.path);
  const mime = Object.hasOwn(IMAGES, ending) ? IMAGES[ending] : undefined;
  const response = await parlance.files.read(query);
  const length = Number(response.headers.get('content-length') ?? 0);
  const most = mime || document ? LOADED_BYTES : SHOWN_BYTES;
  if (length > most && (mime || document)) {
    void response.body?.cancel();
    return { kind: 'none', why: `It is ${size(length)}, and only files up to ${size(most)} are shown here.` };
  }
  const bytes = await firstBytes(response, most);
  if (mime) return { kind: 'image', image: new Blob([bytes], { type: mime }) };
  if (document) {
    try {
      const { text, note } = await readDocument(bytes, document);
      return { kind: 'text', text, note: note ?? 'The text of the document.' };
    } catch (thrown) {
      if (thrown instanceof Unreadable)
        return { kind: 'none', why: `The text cannot be shown: ${thrown.message}` };
      throw thrown;
    }
  }
  if (bytes.subarray(0, 8_192).includes(0)) return { kind: 'none', why: 'It is not text.' };
  const isCut = bytes.length === most;
  return {
    kind: 'text',
    text: new TextDecoder().decode(bytes),
    note: isCut ? `The first ${size(most)}. Download the file to see all of it.` : null,
  };
}

async function firstBytes(response: Response, most: number): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  const reader = response.body?.getReader();
  while (reader && length < most) {
    const { value, done } = await reader.read();
    if (done) break;
    chunks.push(value);
    length += value.length;
  }
  await reader?.cancel();
  return new Uint8Array(await new Blob(chunks as Uint8Array<ArrayBuffer>[]).arrayBuffer()).subarray(0, most);
}

function FileView({ session, path }: Place) {
  const { label, about } = namedPath(path);
  const [chosen, setChosen] = useState<number | null>(null);
  const [isSource, setIsSource] = useState(false);
  const { value: stored } = useRead<readonly FileVersion[]>(JSON.stringify([session, path]), (signal) =>
    parlance.files.versions({ session, path, signal }),
  );
  const versions = stored ?? [];
  // The file as it is now is the last one, whoever wrote it.
  const last = versions.at(-1)?.isCurrent ? versions.length - 1 : versions.length;
  const at = chosen ?? last;
  const version = at === last ? undefined : versions[at]?.version;
  const { value, problem } = useRead<Content>(JSON.stringify([session, path, version]), (signal) =>
    contentOf({ session, path }, version, signal),
  );
  const by = versions[at]?.by;
  const kind = value?.kind === 'text' ? previewKind(endingOf(path), value.text) : null;
  const save = () =>
    attempt(async () => {
      const read = { session, path, ...(version !== undefined && { version }) };
      download(label, await (await parlance.files.read(read)).blob());
    });
  return (
    <>
      <div className="preview-head">
        <IconButton
          icon="back"
          label="Back to the folder"
          onClick={() => openFiles(session, about.replace(/\/$/, '') || '.')}
        />
        <h2 title={path}>{label}</h2>
        <IconButton icon="download" label="Download" onClick={() => void save()} />
        <MentionButton path={path} />
        <IconButton icon="close" label="Close files" onClick={closeFiles} />
      </div>
      <div className="file-tools">
        {kind !== null && (
          <Button variant="quiet" aria-pressed={isSource} onClick={() => setIsSource(!isSource)}>
            Source
          </Button>
        )}
        {last > 0 && (
          <span className="versions">
            <IconButton
              icon="back"
              label="Earlier version"
              disabled={at === 0}
              onClick={() => setChosen(at - 1)}
            />
            Version {at + 1} of {last + 1}
            <IconButton
              icon="chevron"
              label="Later version"
              disabled={at === last}
              onClick={() => setChosen(at + 1)}
            />
          </span>
        )}
        {last > 0 && <span className="hint">{originOf(session, { at, last, by })}</span>}
      </div>
      {problem !== null && <Notice variant="warning">{problem}</Notice>}
      {value && <Shown key={`${version} ${isSource}`} content={value} path={path} isSource={isSource} />}
    </>
  );
}

function originOf(
  session: string,
  { at, last, by }: { readonly at: number; readonly last: number; readonly by: FileVersion['by'] },
): ReactNode {
  if (by)
    return (
      <a href={hrefOf({ page: 'session', id: session }, { event: String(by.seq) })}>Written in this turn</a>
    );
  return at === last ? 'As it is now, changed since the last turn' : 'Before the first change';
}

function Shown({
  content,
  path,
  isSource,
}: {
  readonly content: Content;
  readonly path: string;
  readonly isSource: boolean;
}) {
  switch (content.kind) {
    case 'none':
      return <Empty title="No preview">{content.why}</Empty>;
    case 'image':
      return <ImageView image={content.image} name={path} />;
    case 'text': {
      const kind = isSource ? null : previewKind(endingOf(path), content.text);
      return (
        <>
          {content.note !== null && <p className="hint">{content.note}</p>}
          {kind !== null ? (
            <Previewed kind={kind} code={content.text} />
          ) : (
            <div className="previewed code-block">
              <Code code={content.text} language={endingOf(path)} />
            </div>
          )}
          {kind !== null && <p className="hint">It loads no files, and sees nothing of this page.</p>}
        </>
      );
    }
  }
}

function ImageView({ image, name }: { readonly image: Blob; readonly name: string }) {
  const [url, setUrl] = useState<string | null>(null);
  useEffect(() => {
    const made = URL.createObjectURL(image);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [image]);
  return <div className="previewed">{url !== null && <Picture src={url} alt={name} />}</div>;
}
