/** A patch side by side; on narrow screens, new below old. */
import { type CSSProperties, useMemo, useState } from 'react';
import { Button } from '../button.tsx';
import { filesOf, heightOf, type Line, type PatchedFile, type Run } from './patch-rows.ts';

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
};

export function PatchView({ patch, replaces = [] }: PatchProps) {
  const files = useMemo(() => filesOf(patch), [patch]);
  return (
    <div className="patch">
      {files.map((file, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a patch never changes, and may name a file twice
        <FileView key={at} file={file} replaced={replaces.includes(file.moveTo ?? file.path)} />
      ))}
    </div>
  );
}

function FileView({ file, replaced }: { file: PatchedFile; replaced: boolean }) {
  const [whole, setWhole] = useState(false);
  const rows = file.runs.reduce((sum, run) => sum + heightOf(run), 0);
  const shown = whole ? file.runs : firstRows(file.runs, FIRST_ROWS);
  const word = replaced && file.change === 'add' ? 'Replaced' : LABELS[file.change];
  return (
    <section className="patch-file" aria-label={`${word} ${file.path}`}>
      <header className="patch-head">
        <span>{word}</span>
        <code>{file.moveTo === null ? file.path : `${file.path} → ${file.moveTo}`}</code>
        {replaced && <span className="patch-removed">overwrites an existing file</span>}
        {file.added > 0 && <span className="patch-added">+{file.added}</span>}
        {file.removed > 0 && <span className="patch-removed">−{file.removed}</span>}
      </header>
      {shown.map((run, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a patch never changes
        <RunView key={at} run={run} one={file.change === 'add'} />
      ))}
      {!whole && rows > FIRST_ROWS && (
        <Button look="quiet" onClick={() => setWhole(true)}>
          Show all {rows} lines
        </Button>
      )}
    </section>
  );
}

/** `one`: single column, as for a new file. */
function RunView({ run, one }: { run: Run; one: boolean }) {
  switch (run.kind) {
    case 'note':
      return <div className="patch-note">{run.text || '…'}</div>;
    case 'keep': {
      const lines = run.lines.map((text) => ({ text, mark: null }));
      return (
        <div className="patch-run">
          <Cells side="old" sign=" " lines={lines} />
          <Cells side="copy" sign=" " lines={lines} />
        </div>
      );
    }
    case 'change':
      return (
        <div className={one ? 'patch-run patch-one' : 'patch-run'}>
          <Cells side="old" sign="-" lines={run.removed} />
          <Cells side="new" sign="+" lines={run.added} />
        </div>
      );
  }
}

type CellsProps = {
  /** `copy`: unchanged lines repeated on the new side, hidden from screen readers */
  readonly side: 'old' | 'new' | 'copy';
  readonly sign: ' ' | '-' | '+';
  readonly lines: readonly Line[];
};

const LOOKS = { ' ': 'keep', '-': 'removed', '+': 'added' } as const;

function Cells({ side, sign, lines }: CellsProps) {
  return lines.map(({ text, mark }, at) => (
    <div
      // biome-ignore lint/suspicious/noArrayIndexKey: a patch never changes
      key={at}
      className={`patch-cell patch-${side} patch-${LOOKS[sign]}`}
      style={{ '--row': at + 1 } as CSSProperties}
      aria-hidden={side === 'copy' || undefined}
    >
      <span className="patch-sign">{sign}</span>
      <code>{mark ? <Marked text={text} mark={mark} /> : text}</code>
    </div>
  ));
}

function Marked({ text, mark: [from, to] }: { text: string; mark: readonly [number, number] }) {
  return (
    <>
      {text.slice(0, from)}
      {to > from && <mark>{text.slice(from, to)}</mark>}
      {text.slice(to)}
    </>
  );
}

function firstRows(runs: readonly Run[], most: number): Run[] {
  const first: Run[] = [];
  let left = most;
  for (const run of runs) {
    if (left <= 0) break;
    first.push(cut(run, left));
    left -= heightOf(run);
  }
  return first;
}

function cut(run: Run, most: number): Run {
  switch (run.kind) {
    case 'note':
      return run;
    case 'keep':
      return { ...run, lines: run.lines.slice(0, most) };
    case 'change':
      return { ...run, removed: run.removed.slice(0, most), added: run.added.slice(0, most) };
  }
}
