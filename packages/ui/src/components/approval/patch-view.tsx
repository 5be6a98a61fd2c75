/** A patch side by side, with line numbers and colours; on narrow screens, new below old. */
import type { Ask } from '@parlance/protocol';
import { type CSSProperties, useMemo, useState } from 'react';
import { MAX_HIGHLIGHTED_LENGTH, useHighlighter } from '../../markdown/code-block.tsx';
import { Button, IconButton } from '../controls.tsx';
import {
  type ColouredRun,
  colouredRuns,
  filesOf,
  firstRows,
  heightOf,
  type KnownFile,
  type Line,
  languageOf,
  markedPieces,
  type NumberedRun,
  numberedRuns,
  type PatchedFile,
  type Piece,
  withContent,
} from './patch.ts';

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
  return <FilesView files={files} replaces={replaces} />;
}

type FilesProps = {
  readonly files: readonly KnownFile[];
  readonly replaces?: readonly string[];
  /** opens the file as it is now */
  readonly onOpen?: ((path: string) => void) | null;
};

export function FilesView({ files, replaces = [], onOpen = null }: FilesProps) {
  return (
    <div className="patch">
      {files.map(({ file, hunks }, at) => (
        <FileView
          // biome-ignore lint/suspicious/noArrayIndexKey: a patch never changes, and may name a file twice
          key={at}
          file={file}
          hunks={hunks}
          replaced={replaces.includes(file.moveTo ?? file.path)}
          onOpen={onOpen}
        />
      ))}
    </div>
  );
}

type FileProps = {
  readonly file: PatchedFile;
  readonly hunks: readonly number[];
  readonly replaced: boolean;
  readonly onOpen: ((path: string) => void) | null;
};

function FileView({ file, hunks, replaced, onOpen }: FileProps) {
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
        {onOpen && file.change !== 'delete' && (
          <IconButton
            icon="eye"
            label={`Open ${file.moveTo ?? file.path}`}
            onClick={() => onOpen(file.moveTo ?? file.path)}
          />
        )}
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

// Lines of a patch that belong together: kept, removed or added.

type RunProps = {
  readonly numbered: NumberedRun;
  readonly coloured: ColouredRun;
  /** a single column, as for a new or a deleted file */
  readonly isOneSided: boolean;
};

function RunView({ numbered: { run, before, after }, coloured, isOneSided }: RunProps) {
  switch (run.kind) {
    case 'hunk':
    case 'note':
      return <div className="patch-note">{run.text || '…'}</div>;
    case 'keep': {
      const lines = run.lines.map((text) => ({ text, mark: null }));
      return (
        <div className="patch-run">
          <Cells side="old" sign=" " lines={lines} first={before} pieces={coloured.before} />
          <Cells side="copy" sign=" " lines={lines} first={after} pieces={coloured.after} />
        </div>
      );
    }
    case 'change':
      return (
        <div className={isOneSided ? 'patch-run patch-one' : 'patch-run'}>
          <Cells side="old" sign="-" lines={run.removed} first={before} pieces={coloured.before} />
          <Cells side="new" sign="+" lines={run.added} first={after} pieces={coloured.after} />
        </div>
      );
  }
}

type CellsProps = {
  /** `copy`: unchanged lines repeated on the new side, hidden from screen readers */
  readonly side: 'old' | 'new' | 'copy';
  readonly sign: ' ' | '-' | '+';
  readonly lines: readonly Line[];
  /** the number of the first line; null if it is not known */
  readonly first: number | null;
  readonly pieces: readonly (readonly Piece[])[];
};

const LOOKS = { ' ': 'keep', '-': 'removed', '+': 'added' } as const;

function Cells({ side, sign, lines, first, pieces }: CellsProps) {
  return lines.map((line, at) => (
    <div
      // biome-ignore lint/suspicious/noArrayIndexKey: a patch never changes
      key={at}
      className={`patch-cell patch-${side} patch-${LOOKS[sign]}`}
      style={{ '--row': at + 1 } as CSSProperties}
      aria-hidden={side === 'copy' || undefined}
    >
      {first !== null && <span className="patch-number">{first + at}</span>}
      <span className="patch-sign">{sign}</span>
      <code>
        <Text line={line} pieces={pieces[at] ?? []} />
      </code>
    </div>
  ));
}

function Text({ line: { text, mark }, pieces }: { line: Line; pieces: readonly Piece[] }) {
  const shown = pieces.length === 0 ? [{ text, className: '' }] : pieces;
  return markedPieces(shown, mark).map(({ text, className, isMarked }, index) => {
    const Tag = isMarked ? 'mark' : 'span';
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: a patch never changes
      <Tag key={index} className={className || undefined}>
        {text}
      </Tag>
    );
  });
}
