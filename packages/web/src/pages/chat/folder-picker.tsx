/** Chooses the folder that a new session works in. */
import type { FolderList } from '@parlance/sdk';
import { Button, Icon, useAttempt } from '@parlance/ui/components/controls.tsx';
import { Dialog } from '@parlance/ui/components/dialog.tsx';
import { parlance, useServer } from '@parlance/ui/state/server.ts';
import { readStorage, writeStorage } from '@parlance/ui/state/storage.ts';
import { useState } from 'react';

/** The last part of a path. */
export const folderName = (path: string): string => path.split('/').filter(Boolean).at(-1) ?? path;

const MAX_RECENT = 8;
const storageOf = (user: string): string => `parlance.folders.${user}`;

/** Folders of earlier sessions that this user began in this browser, latest first. */
function recentFolders(user: string): readonly string[] {
  try {
    const stored: unknown = JSON.parse(readStorage('local', storageOf(user)) ?? '[]');
    return Array.isArray(stored) ? stored.filter((path) => typeof path === 'string') : [];
  } catch {
    return [];
  }
}

export function rememberFolder(user: string, path: string): void {
  const recent = [path, ...recentFolders(user).filter((other) => other !== path)].slice(0, MAX_RECENT);
  writeStorage('local', storageOf(user), JSON.stringify(recent));
}

type FolderPickerProps = {
  /** null: the working directory of the server */
  readonly value: string | null;
  readonly onChoose: (folder: string | null) => void;
};

export function FolderPicker({ value, onChoose }: FolderPickerProps) {
  const [list, setList] = useState<FolderList | null>(null);
  const { busy, problem, run } = useAttempt();
  const open = (path: string | null) =>
    run(async () => setList(await parlance.folders(path === null ? {} : { path })));
  const shown = value === null ? 'default' : folderName(value);
  return (
    <>
      <button
        type="button"
        className="picker model-button"
        aria-label={`Folder: ${shown}`}
        title={value ?? 'Folder: the working directory of the server'}
        aria-haspopup="dialog"
        disabled={busy}
        onClick={() => void open(value).then((isOpen) => isOpen || open(null))}
      >
        <Icon name="folder" />
        <span className="picker-label">Folder: </span>
        <span className="picker-value">{shown}</span>
        <Icon name="chevron" />
      </button>
      {list && (
        <Dialog
          title="Folder of the session"
          confirm={list.path === null ? 'Use the default' : 'Work here'}
          onClose={() => setList(null)}
          onConfirm={() => onChoose(list.path)}
        >
          <Browser list={list} problem={problem} open={(path) => void open(path)} />
        </Dialog>
      )}
    </>
  );
}

type BrowserProps = {
  readonly list: FolderList;
  readonly problem: string | null;
  readonly open: (path: string | null) => void;
};

function Browser({ list, problem, open }: BrowserProps) {
  const { principal } = useServer();
  const recent = list.path === null ? recentFolders(principal.id) : [];
  return (
    <div className="folders">
      <p className="folders-path">
        {list.path === null ? (
          'The agent reads, changes and runs files in the folder that you choose. By default that is the working directory of the server.'
        ) : (
          <code>{list.path}</code>
        )}
      </p>
      {problem !== null && <p role="alert">{problem}</p>}
      {list.path !== null && (
        <Button icon="back" onClick={() => open(list.parent)}>
          {list.parent === null ? 'All folders' : 'Up'}
        </Button>
      )}
      {recent.length > 0 && <FolderRows label="Recent" folders={recent} isFull open={open} />}
      <FolderRows
        label={list.path === null ? 'Folders' : `Folders in ${folderName(list.path)}`}
        folders={list.folders}
        isFull={list.path === null}
        open={open}
      />
      {list.folders.length === 0 && <p className="hint">There are no folders in it.</p>}
      {list.cut && <p className="hint">There are more folders than are shown.</p>}
    </div>
  );
}

type FolderRowsProps = {
  readonly label: string;
  readonly folders: readonly string[];
  readonly isFull: boolean;
  readonly open: (path: string) => void;
};

const FolderRows = ({ label, folders, isFull, open }: FolderRowsProps) =>
  folders.length > 0 && (
    <>
      <h3>{label}</h3>
      <ul className="folder-list" aria-label={label}>
        {folders.map((path) => (
          <li key={path}>
            <button type="button" className="folder-row" title={path} onClick={() => open(path)}>
              <Icon name="folder" />
              <span>{folderName(path)}</span>
              {isFull && <small>{path}</small>}
            </button>
          </li>
        ))}
      </ul>
    </>
  );
