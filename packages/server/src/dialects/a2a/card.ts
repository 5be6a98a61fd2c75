/** The public agent card: what the server can do, and where. */
import type { Agent, AgentCatalog } from '../../core/index.ts';
import type { Context } from './context.ts';

export const RPC_PATH = '/a2a';
export const CARD_PATH = '/.well-known/agent-card.json';
export const PROTOCOL_VERSION = '1.0';

export const agentCard = ({ about, engine }: Pick<Context, 'about' | 'engine'>, origin: string) => ({
  name: 'Parlance',
  description: 'An agent server: it answers, uses tools and requests approval if needed.',
  version: about.version,
  supportedInterfaces: [
    { url: `${origin}${RPC_PATH}`, protocolBinding: 'JSONRPC', protocolVersion: PROTOCOL_VERSION },
  ],
  capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: false },
  securitySchemes: {
    bearer: {
      httpAuthSecurityScheme: { scheme: 'Bearer', description: 'A token or an API key of this server' },
    },
  },
  securityRequirements: [{ schemes: { bearer: { list: [] } } }],
  defaultInputModes: ['text/plain', 'application/json', 'image/png', 'image/jpeg', 'image/webp', 'image/gif'],
  defaultOutputModes: ['text/plain'],
  skills: engine.catalog.listed.agents.map((agent) => skillOf(agent, engine.catalog)),
});

/** The tags are the domains of the agent. */
const skillOf = ({ id, name, description }: Agent, { listed }: AgentCatalog) => ({
  id,
  name,
  description,
  tags: listed.domains.filter(({ agents }) => agents.includes(id)).map((domain) => domain.id),
});
