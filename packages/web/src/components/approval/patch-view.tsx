/** A patch side by side, with line numbers and colours; on narrow screens, new below old. */
import type { Ask } from '@parlance/protocol';
import { useMemo, useState } from 'react';
import { MAX_HIGHLIGHTED_LENGTH, useHighlighter } from '../../markdown/use-highlighter.ts';
import { Button } from '../button.tsx';
import { numberedRuns } from './patch-numbers.ts';
import { type ColouredRun, colouredRuns } from './patch-pieces.ts';
import { filesOf, heightOf, type PatchedFile } from './patch-rows.ts';
import { RunView } from './patch-run.tsx';
import { firstRows, languageOf, withContent } from './patched-file.ts';

/** Rows shown before "show all". */
const FIRST_ROWS = 300;

const LABELS: Readonly<Record<PatchedFile['change'], string>> = {
  add: 'New file',
  update: 'Changed',
  delete: 'Deleted',
  unknown: 'Unrecognised',
};

type PatchProps = {
  readonly patch: string;
  /** existing files that the patch overwrites, by the path in the patch */
  readonly replaces?: readonly string[];
  /** the files before the patch, as far as they are known */
  readonly files?: Ask['files'];
};

export function PatchView({ patch, replaces = [], files: known }: PatchProps) {
  const files = useMemo(() => withContent(filesOf(patch), known), [patch, known]);
  return (
    <div className="patch">
      {files.map(({ file, hunks }, at) => (
        <FileView
          // biome-ignore lint/suspicious/noArrayIndexKey: a patch never changes, and may name a file twice
          key={at}
          file={file}
          hunks={hunks}
          replaced={replaces.includes(file.moveTo ?? file.path)}
        />
      ))}
    </div>
  );
}

type FileProps = {
  readonly file: PatchedFile;
  readonly hunks: readonly number[];
  readonly replaced: boolean;
};

function FileView({ file, hunks, replaced }: FileProps) {
  const [whole, setWhole] = useState(false);
  const rows = file.runs.reduce((sum, run) => sum + heightOf(run), 0);
  const shown = useMemo(
    () => (whole ? file : { ...file, runs: firstRows(file.runs, FIRST_ROWS) }),
    [file, whole],
  );
  const runs = useMemo(() => numberedRuns(shown, hunks), [shown, hunks]);
  const coloured = useColours(shown);
  const word = replaced && file.change === 'add' ? 'Replaced' : LABELS[file.change];
  const isOneSided = file.change === 'add' || file.change === 'delete';
  return (
    <section className="patch-file" aria-label={`${word} ${file.path}`}>
      <header className="patch-head">
        <span>{word}</span>
        <code>{file.moveTo === null ? file.path : `${file.path} → ${file.moveTo}`}</code>
        {replaced && <span className="patch-removed">overwrites an existing file</span>}
        {file.added > 0 && <span className="patch-added">+{file.added}</span>}
        {file.removed > 0 && <span className="patch-removed">−{file.removed}</span>}
      </header>
      {file.change === 'delete' && rows === 0 && (
        <div className="patch-note">The content is not shown: the file is empty, very long or not text.</div>
      )}
      {runs.map((numbered, at) => (
        <RunView
          // biome-ignore lint/suspicious/noArrayIndexKey: a patch never changes
          key={at}
          numbered={numbered}
          coloured={coloured[at] ?? NO_COLOURS}
          isOneSided={isOneSided}
        />
      ))}
      {!whole && rows > FIRST_ROWS && (
        <Button variant="quiet" onClick={() => setWhole(true)}>
          Show all {rows} lines
        </Button>
      )}
    </section>
  );
}

const NO_COLOURS: ColouredRun = { before: [], after: [] };

function useColours({ path, moveTo, runs }: PatchedFile): readonly ColouredRun[] {
  const language = languageOf(moveTo ?? path);
  const highlighter = useHighlighter(language !== '');
  return useMemo(
    () =>
      colouredRuns(runs, (code) =>
        highlighter && code.length <= MAX_HIGHLIGHTED_LENGTH
          ? highlighter.highlightedLines(code, language)
          : null,
      ),
    [runs, highlighter, language],
  );
}
