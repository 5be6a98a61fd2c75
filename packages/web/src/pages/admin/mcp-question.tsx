/** Dialog for a new MCP server. */
import type { Json } from '@parlance/protocol';
import { useState } from 'react';
import { Dialog } from '../../components/dialog.tsx';
import { refuseTaken } from './taken.ts';

type McpQuestionProps = {
  /** names that exist */
  readonly taken: readonly string[];
  readonly close: () => void;
  readonly add: (name: string, server: Json) => Promise<void>;
};

export function McpQuestion({ taken, close, add }: McpQuestionProps) {
  const [kind, setKind] = useState<'command' | 'url'>('command');

  function confirm(fields: FormData): Promise<void> {
    const text = (name: string) => String(fields.get(name) ?? '').trim();
    const pairs = pairsIn(text('pairs'));
    const trusted = fields.get('trusted') === 'on';
    const server: Json =
      kind === 'url'
        ? { url: text('url'), headers: pairs, trusted }
        : { command: text('command'), args: linesIn(text('args')), env: pairs, trusted };
    return add(text('name'), server);
  }

  return (
    <Dialog title="Add MCP server" confirm="Add" onClose={close} onConfirm={confirm}>
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
      <label className="field">
        Runs as
        <select value={kind} onChange={({ target }) => setKind(target.value as typeof kind)}>
          <option value="command">Program on this machine</option>
          <option value="url">Server at a URL</option>
        </select>
      </label>
      {kind === 'command' ? (
        <>
          <label className="field">
            Command
            <input name="command" required placeholder="npx" autoComplete="off" spellCheck={false} />
          </label>
          <label className="field">
            Arguments, one per line
            <textarea
              name="args"
              rows={3}
              placeholder={'-y\n@modelcontextprotocol/server-filesystem\n/srv/files'}
              spellCheck={false}
            />
          </label>
        </>
      ) : (
        <label className="field">
          Address
          <input name="url" type="url" required placeholder="https://example.com/mcp" spellCheck={false} />
        </label>
      )}
      <label className="field">
        {kind === 'command' ? 'Environment, one NAME=value per line' : 'Headers, one Name=value per line'}
        <textarea name="pairs" rows={2} spellCheck={false} autoComplete="off" />
      </label>
      <label className="check">
        <input type="checkbox" name="trusted" /> Trust the results of its tools
      </label>
      <p className="hint">Values are stored encrypted and not shown again.</p>
    </Dialog>
  );
}

const linesIn = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

const pairsIn = (text: string): Record<string, string> =>
  Object.fromEntries(
    linesIn(text).map((line) => {
      const equals = line.indexOf('=');
      return equals === -1 ? [line, ''] : [line.slice(0, equals).trim(), line.slice(equals + 1).trim()];
    }),
  );
