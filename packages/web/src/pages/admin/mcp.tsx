/** MCP servers: their state and tools; those who may set up the server add, edit, restart and remove them. */

import type { JsonObject } from '@parlance/protocol';
import { visible } from '@parlance/protocol/visible';
import { type McpServer, ParlanceError } from '@parlance/sdk';
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
import { fieldsOf, type McpFields, type McpKind, NEW_SERVER, objectIn, serverFrom } from './mcp-fields.ts';
import { GALLERY, type Known } from './mcp-gallery.ts';
import { serversIn } from './mcp-json.ts';
import { RemoveDialog, refuseTaken, Section, textsIn, useSettings } from './section.tsx';

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
  | { readonly what: 'edit'; readonly name: string | null; readonly from?: Known }
  | { readonly what: 'paste' | 'gallery' }
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

  /** Other tools keep their state, also those that the server does not have at the moment. */
  async function choose(name: string, tool: string, isOff: boolean): Promise<void> {
    const before = objectIn(stored[name]);
    const others = textsIn(before.disabledTools).filter((one) => one !== tool);
    const server = { ...before, disabledTools: isOff ? [...others, tool] : others };
    await attempt(() => change({ ...stored, [name]: server }, `${tool} is ${isOff ? 'off' : 'on'}.`));
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
          <div className="mcp-actions">
            <Button onClick={() => setDialog({ what: 'paste' })}>Paste JSON</Button>
            <Button onClick={() => setDialog({ what: 'gallery' })}>Well-known servers</Button>
            <Button variant="primary" icon="plus" onClick={() => setDialog({ what: 'edit', name: null })}>
              Add server
            </Button>
          </div>
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
                choose={
                  maySetUp && server.name in stored
                    ? (tool, isOff) => void choose(server.name, tool, isOff)
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
              from={dialog.from}
              taken={takenBy(servers, stored)}
              close={close}
              save={(name, server) => change({ ...stored, [name]: server }, `${name} was saved.`)}
            />
          )}
          {dialog?.what === 'paste' && (
            <PasteDialog
              taken={takenBy(servers, stored)}
              close={close}
              save={(added) =>
                change({ ...stored, ...added }, `${counted(Object.keys(added).length, 'server')} added.`)
              }
            />
          )}
          {dialog?.what === 'gallery' && (
            <GalleryDialog close={close} choose={(from) => setDialog({ what: 'edit', name: null, from })} />
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

const takenBy = (servers: readonly McpServer[], stored: JsonObject): string[] => [
  ...servers.map(({ name }) => name),
  ...Object.keys(stored),
];

const without = (servers: JsonObject, name: string): JsonObject =>
  Object.fromEntries(Object.entries(servers).filter(([other]) => other !== name));

type ServerProps = {
  readonly server: McpServer;
  /** in the config file */
  readonly fixed: boolean;
  readonly restart?: (() => void) | undefined;
  readonly signOut?: (() => void) | undefined;
  /** only for servers that were added here */
  readonly ask?: ((what: 'edit' | 'remove') => void) | undefined;
  /** turns a tool on or off */
  readonly choose?: ((tool: string, isOff: boolean) => void) | undefined;
};

function Server({ server, fixed, restart, signOut, ask, choose }: ServerProps) {
  const { name, kind, trusted, state, signIn, allTools, error, output } = server;
  const off = allTools.filter(({ isOff }) => isOff).length;
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
        {allTools.length > 0 && (
          <details>
            <summary>
              {counted(allTools.length, 'tool')}
              {off > 0 && `, ${off} off`}
            </summary>
            <ul className="mcp-tools" aria-label={`Tools of ${name}`}>
              {allTools.map((tool) => (
                <li key={tool.name}>
                  <label className="check">
                    <input
                      type="checkbox"
                      checked={!tool.isOff}
                      disabled={!choose}
                      onChange={({ target }) => choose?.(tool.name, !target.checked)}
                    />{' '}
                    <code>{tool.name}</code>
                  </label>
                  {tool.description !== '' && <p className="hint">{tool.description}</p>}
                </li>
              ))}
            </ul>
            {fixed && <p className="hint">To turn tools off, set “disabledTools” in the config file.</p>}
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
  /** what a new one begins with */
  readonly from?: Known | undefined;
  /** names that exist */
  readonly taken: readonly string[];
  readonly close: () => void;
  readonly save: (name: string, server: JsonObject) => Promise<void>;
};

function McpDialog({ server, from, taken, close, save }: McpDialogProps) {
  const before: McpFields = server ? fieldsOf(server.stored) : (from?.fields ?? NEW_SERVER);
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
          defaultValue={from?.name}
          ref={refuseTaken(taken.find((name) => name === from?.name))}
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

// Servers of other programs, and well-known ones.

type PasteProps = {
  readonly taken: readonly string[];
  readonly close: () => void;
  readonly save: (servers: JsonObject) => Promise<void>;
};

function PasteDialog({ taken, close, save }: PasteProps) {
  const [text, setText] = useState('');
  const { servers, problems } = serversIn(text, taken);
  return (
    <Dialog
      title="Add servers of another program"
      confirm={servers.length > 0 ? `Add ${counted(servers.length, 'server')}` : 'Add'}
      onClose={close}
      onConfirm={() => {
        if (servers.length === 0) throw new ParlanceError('invalid', 'There is no server to add.');
        return save(Object.fromEntries(servers.map(({ name, server }) => [name, server])));
      }}
    >
      <TextArea
        label="The “mcpServers” or “servers” of Claude Desktop, Cursor, VS Code or others"
        name="json"
        rows={9}
        required
        value={text}
        placeholder={'{\n  "mcpServers": {\n    "files": { "command": "npx", "args": ["-y", "…"] }\n  }\n}'}
        spellCheck={false}
        autoComplete="off"
        onChange={({ target }) => setText(target.value)}
      />
      <div role="status">
        {servers.length > 0 && (
          <ul className="mcp-tools" aria-label="Servers to add">
            {servers.map(({ name, what, missing }) => (
              <li key={name}>
                <strong>{name}</strong> <code>{visible(what)}</code>
                {missing.length > 0 && (
                  <p className="hint">To fill in afterwards with Edit: {missing.join(', ')}</p>
                )}
              </li>
            ))}
          </ul>
        )}
        {problems.map((problem) => (
          <p className="hint" key={problem}>
            {problem}
          </p>
        ))}
      </div>
      <p className="hint">Programs run on the server as its user. Add only those that you trust.</p>
    </Dialog>
  );
}

type GalleryProps = { readonly close: () => void; readonly choose: (known: Known) => void };

function GalleryDialog({ close, choose }: GalleryProps) {
  return (
    <Dialog title="Well-known servers" confirm="Close" plain onConfirm={close} onClose={close}>
      <ul className="mcp-tools" aria-label="Well-known servers">
        {GALLERY.map((known) => {
          const { name, title, about, fields } = known;
          const { kind, command, args, url } = fields;
          return (
            <li key={name} className="mcp-known">
              <div>
                <strong>{title}</strong>
                <p className="hint">{about}</p>
                <code>{kind === 'url' ? url : [command, ...args.split('\n')].join(' ')}</code>
              </div>
              <Button onClick={() => choose(known)} aria-label={`Set up ${title}`}>
                Set up
              </Button>
            </li>
          );
        })}
      </ul>
      <p className="hint">
        They belong to others. A program is downloaded when it first starts; an address may ask for a sign-in.
      </p>
    </Dialog>
  );
}
