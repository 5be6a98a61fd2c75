/** Configured MCP servers and their state. */
import type { McpServer } from '@parlance/sdk';
import { Chip, type ChipLook } from '../../components/chip.tsx';
import { Empty } from '../../components/empty.tsx';
import { CodeBlock } from '../../markdown/code-block.tsx';
import { parlance } from '../../state/server.ts';
import { usePolled } from '../../state/use-polled.ts';
import { Section } from './section.tsx';

const STATES: Readonly<Record<McpServer['state'], readonly [ChipLook, string]>> = {
  starting: ['busy', 'starting'],
  ready: ['good', 'ready'],
  away: ['bad', 'disconnected, retrying'],
  closed: ['plain', 'closed'],
};

const EXAMPLE = `{
  "mcpServers": {
    "files": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-filesystem", "."]
    }
  }
}`;

const EVERY_MS = 5_000;

export function McpSection() {
  const polled = usePolled(parlance.admin.mcp, EVERY_MS);
  return (
    <Section title="MCP servers" whose="a developer or an admin" polled={polled}>
      {(servers) =>
        servers.length === 0 ? (
          <>
            <Empty title="No MCP servers configured">
              Add them to <code>config.json</code> in the server’s data folder and restart the server. Agents
              can then use their tools.
            </Empty>
            <CodeBlock code={EXAMPLE} language="json" />
          </>
        ) : (
          <ul className="admin-list" aria-label="MCP servers">
            {servers.map((server) => (
              <Server key={server.name} server={server} />
            ))}
          </ul>
        )
      }
    </Section>
  );
}

function Server({ server: { name, kind, trusted, state, tools, trouble } }: { server: McpServer }) {
  const [look, label] = STATES[state];
  return (
    <li className="card">
      <div className="admin-what">
        <strong>{name}</strong> <Chip look={look}>{label}</Chip> <Chip>{kind}</Chip>
        {trusted && <Chip title="Results are not marked as untrusted content">trusted</Chip>}
        {trouble && (
          <p className={state === 'ready' ? 'hint' : 'admin-trouble'}>
            {new Date(trouble.at).toLocaleTimeString()}: {trouble.message}
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
      </div>
    </li>
  );
}
