/** Dialog for a new or changed MCP server. */
import type { JsonObject } from '@parlance/protocol';
import { useState } from 'react';
import { Dialog } from '../../components/dialog.tsx';
import { fieldsOf, type McpKind, NEW_SERVER, serverFrom } from './mcp-server.ts';
import { refuseTaken } from './taken.ts';

type McpQuestionProps = {
  /** null: a new one */
  readonly server: { readonly name: string; readonly stored: JsonObject } | null;
  /** names that exist */
  readonly taken: readonly string[];
  readonly close: () => void;
  readonly save: (name: string, server: JsonObject) => Promise<void>;
};

export function McpQuestion({ server, taken, close, save }: McpQuestionProps) {
  const before = server ? fieldsOf(server.stored) : NEW_SERVER;
  const [kind, setKind] = useState<McpKind>(before.kind);

  function confirm(fields: FormData): Promise<void> {
    const text = (name: string) => String(fields.get(name) ?? '');
    const entered = {
      kind,
      command: text('command'),
      args: text('args'),
      url: text('url'),
      pairs: text('pairs'),
      trusted: fields.get('trusted') === 'on',
    };
    return save(server?.name ?? text('name').trim(), serverFrom(entered, server?.stored));
  }

  return (
    <Dialog
      title={server ? `Edit ${server.name}` : 'Add MCP server'}
      confirm={server ? 'Save' : 'Add'}
      onClose={close}
      onConfirm={confirm}
    >
      {server === null && (
        <label className="field">
          Name
          <input
            name="name"
            required
            maxLength={32}
            pattern="[A-Za-z0-9_\-]+"
            title="Letters, digits, - and _"
            placeholder="files"
            onChange={({ target }) =>
              refuseTaken(
                target,
                taken.find((name) => name === target.value.trim()),
              )
            }
            autoComplete="off"
          />
        </label>
      )}
      <label className="field">
        Runs as
        <select value={kind} onChange={({ target }) => setKind(target.value as McpKind)}>
          <option value="command">Program on this machine</option>
          <option value="url">Server at a URL</option>
        </select>
      </label>
      {kind === 'command' ? (
        <>
          <label className="field">
            Command
            <input
              name="command"
              required
              placeholder="npx"
              defaultValue={before.command}
              autoComplete="off"
              spellCheck={false}
            />
          </label>
          <label className="field">
            Arguments, one per line
            <textarea
              name="args"
              rows={3}
              placeholder={'-y\n@modelcontextprotocol/server-filesystem\n/srv/files'}
              defaultValue={before.args}
              spellCheck={false}
            />
          </label>
        </>
      ) : (
        <label className="field">
          Address
          <input
            name="url"
            type="url"
            required
            placeholder="https://example.com/mcp"
            defaultValue={before.url}
            spellCheck={false}
          />
        </label>
      )}
      <label className="field">
        {kind === 'command' ? 'Environment, one NAME=value per line' : 'Headers, one Name=value per line'}
        <textarea
          key={kind}
          name="pairs"
          rows={2}
          defaultValue={kind === before.kind ? before.pairs : ''}
          spellCheck={false}
          autoComplete="off"
        />
      </label>
      <label className="check">
        <input type="checkbox" name="trusted" defaultChecked={before.trusted} /> Trust the results of its
        tools
      </label>
      <p className="hint">
        Values are stored encrypted and not shown again.
        {server !== null && ' A name without a value keeps the stored one.'}
      </p>
    </Dialog>
  );
}
