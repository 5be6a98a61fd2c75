/**
 * The definition of each MCP tool is pinned when it is first used. Pins are stored under the names of server
 * and tool: they outlive restarts of either side, and the removal of the server.
 */
import type { SettingsStore } from '../../accounts/store.ts';
import type { Definition } from './connection.ts';

const PARTS = ['description', 'parameters', 'annotations'] as const;
type Part = (typeof PARTS)[number];
/** A hash of each part. */
type Pin = Record<Part, string>;

export type PinState = {
  /** what has changed since the tool was last pinned, in words */
  readonly changed: readonly Part[];
  /** differs for each definition that was in use, also if one comes back */
  readonly id: string;
  /** Pins the current definition. */
  pin(): Promise<void>;
};

export type Pins = {
  look(server: string, definition: Definition): Promise<PinState>;
};

export const openPins = (settings: SettingsStore): Pins => ({
  async look(server, definition) {
    // Names of tools have any length.
    const name = `mcp-pin:${server}:${hash(definition.name)}`;
    const now = pinOf(definition);
    const stored = await settings.read(name);
    const changed = stored ? PARTS.filter((part) => stored.value[part] !== now[part]) : [];
    const isPinned = stored !== null && changed.length === 0;
    const version = stored?.version ?? 0;
    return {
      changed,
      id: `${isPinned ? version : version + 1}-${hash(now).slice(0, 12)}`,
      // If another call has pinned it in the meantime, the next one compares with that.
      pin: async () => void (isPinned || (await settings.write(name, now, version))),
    };
  },
});

const pinOf = ({ title, description, inputSchema, outputSchema, annotations }: Definition): Pin => ({
  description: hash([title, description]),
  parameters: hash([inputSchema, outputSchema]),
  annotations: hash([annotations]),
});

/** The order of keys does not matter. */
export const hash = (value: unknown): string =>
  new Bun.CryptoHasher('sha256').update(JSON.stringify(sorted(value))).digest('hex');

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]) => [key, sorted(inner)] as const);
  return entries.sort(([a], [b]) => (a < b ? -1 : 1));
}
