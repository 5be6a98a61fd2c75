/** MCP servers: their state and tools; those who may set up the server add, edit, restart and remove them. */

import type { Json, JsonObject } from '@parlance/protocol';
import type { McpServer } from '@parlance/sdk';
import { counted } from '@parlance/ui/chat/cost.ts';
import {
  attempt,
  Button,
  Chip,
  type ChipVariant,
  Empty,
  Field,
  Select,
  TextArea,
  toast,
} from '@parlance/ui/components/controls.tsx';
import { Dialog } from '@parlance/ui/components/dialog.tsx';
import { may } from '@parlance/ui/state/may.ts';
import { parlance, useServer } from '@parlance/ui/state/server.ts';
import { useState } from 'react';
import { SignInButton } from '../../components/sign-in-button.tsx';
import { usePolled } from '../../state/use-polled.ts';
import { linesIn, RemoveDialog, refuseTaken, Section, useSettings } from './section.tsx';

const STATES: Readonly<Record<McpServer['state'], readonly [ChipVariant, string]>> = {
  starting: ['busy', 'starting'],
  ready: ['good', 'ready'],
  'sign-in': ['waiting', 'needs a sign-in'],
  away: ['bad', 'disconnected, retrying'],
  closed: ['plain', 'closed'],
};

/** A new server is ready within seconds. */
const EVERY_MS = 2_000;

type DialogState =
  | { readonly what: 'edit'; readonly name: string | null }
  | { readonly what: 'remove'; readonly name: string };

export function McpSection() {
  const maySetUp = may(useServer(), 'setup');
  const polled = usePolled(parlance.admin.mcp, EVERY_MS);
  const settings = useSettings();
  const [dialog, setDialog] = useState<DialogState | null>(null);
  const close = () => setDialog(null);
  const stored = objectIn(settings.polled.value?.stored.mcpServers);

  async function change(servers: JsonObject, done: string): Promise<void> {
    await settings.change({ mcpServers: servers }, done);
    polled.again();
  }

  async function signOut(name: string): Promise<void> {
    if (await attempt(() => parlance.mcp.end(name))) toast(`Signed out of ${name}.`);
    polled.again();
  }

  async function restart(name: string): Promise<void> {
    if (await attempt(() => parlance.admin.restartMcp(name))) toast(`${name} was restarted.`);
    polled.again();
  }

  return (
    <Section
      title="MCP servers"
      polled={polled}
      actions={
        maySetUp && (
          <Button variant="primary" icon="plus" onClick={() => setDialog({ what: 'edit', name: null })}>
            Add server
          </Button>
        )
      }
    >
      {(servers) => (
        <>
          {servers.length === 0 && (
            <Empty title="No MCP servers">
              {maySetUp
                ? 'Add one, and agents can use its tools at once.'
                : 'An admin can add them here. Agents can then use their tools.'}
            </Empty>
          )}
          <ul className="admin-list" aria-label="MCP servers">
            {servers.map((server) => (
              <Server
                key={server.name}
                server={server}
                fixed={maySetUp && !!settings.polled.value && !(server.name in stored)}
                signOut={maySetUp ? () => void signOut(server.name) : undefined}
                restart={maySetUp ? () => void restart(server.name) : undefined}
                ask={
                  maySetUp && server.name in stored
                    ? (what) => setDialog({ what, name: server.name })
                    : undefined
                }
              />
            ))}
          </ul>
          {dialog?.what === 'edit' && (
            <McpDialog
              server={
                dialog.name === null ? null : { name: dialog.name, stored: objectIn(stored[dialog.name]) }
              }
              taken={[...servers.map(({ name }) => name), ...Object.keys(stored)]}
              close={close}
              save={(name, server) => change({ ...stored, [name]: server }, `${name} was saved.`)}
            />
          )}
          {dialog?.what === 'remove' && (
            <RemoveDialog
              name={dialog.name}
              onClose={close}
              onConfirm={() => change(without(stored, dialog.name), `${dialog.name} was removed.`)}
            >
              Agents can no longer use its tools. Its variables and headers are deleted.
            </RemoveDialog>
          )}
        </>
      )}
    </Section>
  );
}

const without = (servers: JsonObject, name: string): JsonObject =>
  Object.fromEntries(Object.entries(servers).filter(([other]) => other !== name));

type ServerProps = {
  readonly server: McpServer;
  /** in the config file */
  readonly fixed: boolean;
  readonly restart?: (() => void) | undefined;
  readonly signOut?: (() => void) | undefined;
  /** only for servers that were added here */
  readonly ask?: ((what: DialogState['what']) => void) | undefined;
};

function Server({ server, fixed, restart, signOut, ask }: ServerProps) {
  const { name, kind, trusted, state, signIn, tools, error, output } = server;
  const [variant, label] = STATES[state];
  return (
    <li className="card">
      <div className="admin-what">
        <strong>{name}</strong> <Chip variant={variant}>{label}</Chip> <Chip>{kind}</Chip>{' '}
        {fixed && <Chip>config file</Chip>}
        {signIn?.who === 'user' && <Chip>{`${signIn.signedIn} signed in`}</Chip>}
        {trusted && <Chip title="Results are not marked as untrusted content">trusted</Chip>}
        {error && (
          <p className={state === 'ready' ? 'hint' : 'admin-error'}>
            {new Date(error.at).toLocaleTimeString()}: {error.message}
          </p>
        )}
        {tools.length > 0 && (
          <details>
            <summary>{counted(tools.length, 'tool')}</summary>
            <p className="admin-tools">
              {tools.map((tool) => (
                <code key={tool}>{tool}</code>
              ))}
            </p>
          </details>
        )}
        {output.length > 0 && (
          <details>
            <summary>Log</summary>
            <pre className="mcp-output">{output.join('\n')}</pre>
          </details>
        )}
      </div>
      {signOut && signIn?.who === 'server' && state === 'sign-in' && <SignInButton name={name} />}
      {signOut && signIn?.who === 'server' && signIn.signedIn > 0 && (
        <Button onClick={signOut}>Sign out</Button>
      )}
      {restart && <Button onClick={restart}>Restart</Button>}
      {ask && <Button onClick={() => ask('edit')}>Edit</Button>}
      {ask && <Button onClick={() => ask('remove')}>Remove</Button>}
    </li>
  );
}

// Dialog for a new or changed MCP server.

type McpDialogProps = {
  /** null: a new one */
  readonly server: { readonly name: string; readonly stored: JsonObject } | null;
  /** names that exist */
  readonly taken: readonly string[];
  readonly close: () => void;
  readonly save: (name: string, server: JsonObject) => Promise<void>;
};

function McpDialog({ server, taken, close, save }: McpDialogProps) {
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
      perUser: fields.get('perUser') === 'on',
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
        <Field
          label="Name"
          name="name"
          required
          maxLength={32}
          pattern="[A-Za-z0-9_\-]+"
          title="Letters, digits, - and _"
          placeholder="files"
          onChange={({ target }) => refuseTaken(taken.find((name) => name === target.value.trim()))(target)}
        />
      )}
      <Select
        label="Runs as"
        value={kind}
        options={[
          ['command', 'Program on this machine'],
          ['url', 'Server at a URL'],
        ]}
        onChange={({ target }) => setKind(target.value as McpKind)}
      />
      {kind === 'command' ? (
        <>
          <Field
            label="Command"
            name="command"
            required
            placeholder="npx"
            defaultValue={before.command}
            spellCheck={false}
          />
          <TextArea
            label="Arguments, one per line"
            name="args"
            rows={3}
            placeholder={'-y\n@modelcontextprotocol/server-filesystem\n/srv/files'}
            defaultValue={before.args}
            spellCheck={false}
          />
        </>
      ) : (
        <>
          <Field
            label="Address"
            name="url"
            type="url"
            required
            placeholder="https://example.com/mcp"
            defaultValue={before.url}
            spellCheck={false}
          />
          <label className="check">
            <input type="checkbox" name="perUser" defaultChecked={before.perUser} /> Each user signs in
          </label>
        </>
      )}
      <TextArea
        label={
          kind === 'command' ? 'Environment, one NAME=value per line' : 'Headers, one Name=value per line'
        }
        key={kind}
        name="pairs"
        rows={2}
        defaultValue={kind === before.kind ? before.pairs : ''}
        spellCheck={false}
        autoComplete="off"
      />
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

// A stored MCP server, and the fields of its dialog. Values of variables and headers are never shown. Pure.

type McpKind = 'command' | 'url';

export type McpFields = {
  readonly kind: McpKind;
  readonly command: string;
  /** one per line */
  readonly args: string;
  readonly url: string;
  /** variables or headers: one `NAME=value` per line */
  readonly pairs: string;
  readonly trusted: boolean;
  /** each user signs in, instead of one person for all */
  readonly perUser: boolean;
};

export const NEW_SERVER: McpFields = {
  kind: 'command',
  command: '',
  args: '',
  url: '',
  pairs: '',
  trusted: false,
  perUser: false,
};

export function fieldsOf(server: JsonObject): McpFields {
  const kind = 'url' in server ? 'url' : 'command';
  const args = Array.isArray(server.args) ? server.args.map(String) : [];
  return {
    kind,
    command: String(server.command ?? ''),
    args: args.join('\n'),
    url: String(server.url ?? ''),
    pairs: namesIn(server, kind)
      .map((name) => `${name}=`)
      .join('\n'),
    trusted: server.trusted === true,
    perUser: server.signIn === 'user',
  };
}

/** Keeps what `before` has besides these fields, and stored values of variables that have none here. */
export function serverFrom({ kind, ...fields }: McpFields, before: JsonObject = {}): JsonObject {
  const { trusted } = fields;
  const isSameKind = kind in before;
  const stored = isSameKind ? namesIn(before, kind) : [];
  const pairs = Object.fromEntries(
    linesIn(fields.pairs).map((line) => {
      const [name = '', ...rest] = line.split('=');
      const value = rest.join('=').trim();
      // Null keeps the stored value.
      return [name.trim(), value === '' && stored.includes(name.trim()) ? null : value] satisfies [
        string,
        Json,
      ];
    }),
  );
  const who: JsonObject =
    fields.perUser || (isSameKind && 'signIn' in before)
      ? { signIn: fields.perUser ? 'user' : 'server' }
      : {};
  const changed: JsonObject =
    kind === 'url'
      ? { url: fields.url.trim(), headers: pairs, ...who }
      : { command: fields.command.trim(), args: linesIn(fields.args), env: pairs };
  return { ...(isSameKind ? before : {}), ...changed, trusted };
}

const namesIn = (server: JsonObject, kind: McpKind): string[] =>
  Object.keys(objectIn(kind === 'url' ? server.headers : server.env));

/** Empty if the value is not an object. */
const objectIn = (value: Json | undefined): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
