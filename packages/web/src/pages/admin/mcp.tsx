/** MCP servers: their state and tools; admins add, restart and remove them. */
import type { Json, JsonObject } from '@parlance/protocol';
import type { McpServer } from '@parlance/sdk';
import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Chip, type ChipLook } from '../../components/chip.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Empty } from '../../components/empty.tsx';
import { attempt, toast } from '../../components/toast.tsx';
import { parlance, useServer } from '../../state/server.ts';
import { usePolled } from '../../state/use-polled.ts';
import { McpQuestion } from './mcp-question.tsx';
import { Section } from './section.tsx';
import { useSettings } from './use-settings.ts';

const STATES: Readonly<Record<McpServer['state'], readonly [ChipLook, string]>> = {
  starting: ['busy', 'starting'],
  ready: ['good', 'ready'],
  away: ['bad', 'disconnected, retrying'],
  closed: ['plain', 'closed'],
};

const EVERY_MS = 5_000;

export function McpSection() {
  const { principal } = useServer();
  const isAdmin = principal.role === 'admin';
  const polled = usePolled(parlance.admin.mcp, EVERY_MS);
  const settings = useSettings();
  const [adding, setAdding] = useState(false);
  const [removing, setRemoving] = useState<string | null>(null);
  const stored = serversIn(settings.polled.value?.stored.mcpServers);

  async function change(servers: JsonObject, done: string): Promise<void> {
    await settings.change({ mcpServers: servers }, done);
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
        isAdmin && (
          <Button look="primary" icon="plus" onClick={() => setAdding(true)}>
            Add server
          </Button>
        )
      }
    >
      {(servers) => (
        <>
          {servers.length === 0 && (
            <Empty title="No MCP servers">
              {isAdmin
                ? 'Add one, and agents can use its tools at once.'
                : 'An admin can add them here. Agents can then use their tools.'}
            </Empty>
          )}
          <ul className="admin-list" aria-label="MCP servers">
            {servers.map((server) => (
              <Server
                key={server.name}
                server={server}
                restart={isAdmin ? () => void restart(server.name) : undefined}
                remove={isAdmin && server.name in stored ? () => setRemoving(server.name) : undefined}
              />
            ))}
          </ul>
          {adding && (
            <McpQuestion
              taken={[...servers.map(({ name }) => name), ...Object.keys(stored)]}
              close={() => setAdding(false)}
              add={(name, server) => change({ ...stored, [name]: server }, `${name} was added.`)}
            />
          )}
          {removing !== null && (
            <Dialog
              title={`Remove ${removing}?`}
              confirm="Remove"
              danger
              onClose={() => setRemoving(null)}
              onConfirm={() => change(without(stored, removing), `${removing} was removed.`)}
            >
              <p>Agents can no longer use its tools. Its variables and headers are deleted.</p>
            </Dialog>
          )}
        </>
      )}
    </Section>
  );
}

const serversIn = (value: Json | undefined): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};

const without = (servers: JsonObject, name: string): JsonObject =>
  Object.fromEntries(Object.entries(servers).filter(([other]) => other !== name));

type ServerProps = {
  readonly server: McpServer;
  readonly restart?: (() => void) | undefined;
  /** only for servers that were added here */
  readonly remove?: (() => void) | undefined;
};

function Server({ server, restart, remove }: ServerProps) {
  const { name, kind, trusted, state, tools, error, output } = server;
  const [look, label] = STATES[state];
  return (
    <li className="card">
      <div className="admin-what">
        <strong>{name}</strong> <Chip look={look}>{label}</Chip> <Chip>{kind}</Chip>
        {trusted && <Chip title="Results are not marked as untrusted content">trusted</Chip>}
        {error && (
          <p className={state === 'ready' ? 'hint' : 'admin-error'}>
            {new Date(error.at).toLocaleTimeString()}: {error.message}
          </p>
        )}
        {tools.length > 0 && (
          <details>
            <summary>
              {tools.length} {tools.length === 1 ? 'tool' : 'tools'}
            </summary>
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
      {restart && <Button onClick={restart}>Restart</Button>}
      {remove && <Button onClick={remove}>Remove</Button>}
    </li>
  );
}
