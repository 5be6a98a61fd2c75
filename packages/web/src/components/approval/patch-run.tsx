/** Lines of a patch that belong together: kept, removed or added. */
import type { CSSProperties } from 'react';
import type { NumberedRun } from './patch-numbers.ts';
import { type ColouredRun, markedPieces, type Piece } from './patch-pieces.ts';
import type { Line } from './patch-rows.ts';

type RunProps = {
  readonly numbered: NumberedRun;
  readonly coloured: ColouredRun;
  /** a single column, as for a new or a deleted file */
  readonly isOneSided: boolean;
};

export function RunView({ numbered: { run, before, after }, coloured, isOneSided }: RunProps) {
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
