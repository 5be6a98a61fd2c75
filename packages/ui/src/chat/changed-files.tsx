/** The files that a turn changed, with one view of all differences. */
import type { TurnView } from '@parlance/sdk';
import { useContext } from 'react';
import { heightOf } from '../components/approval/patch.ts';
import { FilesView } from '../components/approval/patch-view.tsx';
import { Collapsible } from '../components/controls.tsx';
import { ConsoleSession } from './console-session.ts';
import { counted } from './cost.ts';
import { openFiles } from './preview.ts';
import { type ChangedFile, changedFiles } from './runs.ts';

/** The files of a larger change are opened one by one. */
const MAX_ROWS = 600;

export function ChangedFiles({ turn }: { readonly turn: TurnView }) {
  const files = changedFiles(turn);
  const session = useContext(ConsoleSession);
  const onOpen = session === null ? null : (path: string) => openFiles(session, path, true);
  if (files.length === 0) return null;
  const isSmall = files.reduce((sum, file) => sum + rowsOf(file), 0) <= MAX_ROWS;
  return (
    <Collapsible
      name={`changes ${turn.turn}`}
      icon="file"
      className="call-fold changed-files"
      summary={
        <>
          <span className="run-text">{counted(files.length, 'file')} changed</span>
          <Counts of={files} />
        </>
      }
    >
      {isSmall ? (
        <FilesView files={files.flatMap(({ edits }) => edits)} onOpen={onOpen} />
      ) : (
        files.map((file) => (
          <Collapsible
            key={file.path}
            name={`changes ${turn.turn} ${file.path}`}
            icon="file"
            className="changed-file"
            summary={
              <>
                <code className="changed-path">{file.path}</code>
                <Counts of={[file]} />
              </>
            }
          >
            <FilesView files={file.edits} onOpen={onOpen} />
          </Collapsible>
        ))
      )}
    </Collapsible>
  );
}

const rowsOf = ({ edits }: ChangedFile): number =>
  edits.reduce((sum, { file }) => sum + file.runs.reduce((rows, run) => rows + heightOf(run), 0), 0);

function Counts({ of: files }: { readonly of: readonly ChangedFile[] }) {
  const sum = (side: 'added' | 'removed') => files.reduce((total, file) => total + file[side], 0);
  const [added, removed] = [sum('added'), sum('removed')];
  return (
    <span className="changed-counts">
      {added > 0 && <span className="patch-added">+{added}</span>}
      {removed > 0 && <span className="patch-removed">−{removed}</span>}
    </span>
  );
}
