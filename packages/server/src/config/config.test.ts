import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { configFolders } from '../testing/config.ts';
import {
  fullHelpText,
  loadConfig,
  loadDataFolder,
  SETTINGS,
  type Setting,
  settingsMarkdown,
} from './config.ts';

const { folder } = configFolders();

describe('defaults', () => {
  test('without settings the offline model is served on loopback in open mode', () => {
    expect(loadConfig([], {}, folder)).toEqual({
      host: '127.0.0.1',
      port: 3000,
      listeners: [],
      data: join(folder, '.parlance'),
      database: undefined,
      databaseDirect: undefined,
      databasePool: 8,
      redis: undefined,
      lease: 1_500,
      home: undefined,
      folder: 'shared',
      auth: 'open',
      authSecret: undefined,
      authUsers: [],
      loginAttempts: 10,
      trustedProxies: 0,
      publicUrl: undefined,
      allowedOrigins: [],
      allowedToolOrigins: [],
      model: { provider: 'offline' },
      modelNamed: expect.any(Function),
      providerNamed: expect.any(Function),
      vendor: expect.any(Function),
      changeable: expect.any(Function),
      given: new Map(),
      fallbacks: [],
      fallbackFromNamed: false,
      fallbackCoolDown: 30_000,
      modelAliases: [],
      http: 'socket',
      providerIdle: 60_000,
      contextLimit: undefined,
      contextLimits: {},
      serperKey: undefined,
      serperBaseUrl: undefined,
      instructions: undefined,
      cwd: folder,
      configFile: null,
      ignoredFiles: [],
      registration: { registry: null, isNamed: false },
      tools: [],
      prompts: [],
      resources: [],
      workFolders: [],
      trustedFolders: [],
      projectInstructions: true,
      skillFolders: [],
      approval: 'suggest',
      fullAutoAsRoot: false,
      contextStrategy: 'threshold',
      contextThreshold: 0.8,
      logLevel: 'info',
      metricsToken: undefined,
      otlpEndpoint: undefined,
      serviceName: 'parlance',
      offlineDelay: 15,
      maxSteps: 50,
      parallelCalls: 8,
      titles: 'model',
      grace: 5000,
      maxFrame: 1_048_576,
      maxFirstFrame: 65_536,
      framesPerMinute: 12_000,
      heldCharacters: 262_144,
      sockets: 100_000,
      socketsPerPrincipal: 10_000,
      socketsPerAddress: 10_000,
      unknownSockets: 1_024,
      unfinishedBytes: 67_108_864,
      identifyWithin: 10_000,
      maxBody: 11_534_336,
      maxLoginBody: 16_384,
      bodyWithin: 300_000,
      bodyRate: 1_024,
      bodyBytes: 268_435_456,
      anonymousBytes: 16_777_216,
      requestsPerMinute: 6_000,
      apiRequestsPerMinute: 60_000,
      toolCallWithin: 50_000,
      sessionsPerPrincipal: 100_000,
      ephemeralIdle: 600_000,
      cachedCharacters: 67_108_864,
      inputsQueued: 1_000,
      turnsAtOnce: 1_000,
      subAgents: 8,
      turnsWaiting: 1_000,
      usageDays: 400,
      storedBytes: 53_687_091_200,
      answerCharacters: 4_000_000,
      argumentCharacters: 8_000_000,
      answerCalls: 200,
      maxDom: 1_000_000,
      commandMemory: SETTINGS.commandMemory.fallback,
      commandProcesses: 4_096,
      commandDisk: 10_737_418_240,
      checkpointSpace: 1_073_741_824,
      checkpointFiles: 20_000,
      channels: true,
      channelsAppId: 'app-id',
      channelsKey: 'app-key',
      channelsSecret: 'app-secret',
      channelsHost: undefined,
      channelsPort: undefined,
      channelsUseTls: false,
      pushNotifications: 'public',
      rules: [],
      agents: [],
      domains: [],
      spendLimits: [],
      mcpServers: {},
    });
  });

  test('an empty variable counts as unset', () => {
    expect(loadConfig([], { PORT: '', AUTH_USERS: '' }, folder).port).toBe(3000);
  });
});

describe('the public address', () => {
  const withUrl = (url: string) => loadConfig(['--public-url', url], {}, folder);

  test('is an origin that browsers may call from', () => {
    const { publicUrl, allowedOrigins, changeable } = withUrl('https://chat.example.com');
    expect([publicUrl, allowedOrigins]).toEqual(['https://chat.example.com', ['https://chat.example.com']]);
    expect(changeable({ allowedOrigins: ['https://other.example'] }).allowedOrigins).toEqual([
      'https://chat.example.com',
      'https://other.example',
    ]);
  });

  test.each([
    'chat.example.com',
    'https://chat.example.com/path',
    'chrome-extension://abc',
    'ftp://a.example',
    '*',
  ])('cannot be %s', (url) => expect(() => withUrl(url)).toThrow('--public-url'));
});

describe('the working directory', () => {
  const checkout = join(import.meta.dir, '../../../..');

  test('is the current folder, or ./workspace anywhere inside the checkout', () => {
    expect(loadConfig([], {}, folder).cwd).toBe(folder);
    for (const cwd of [checkout, import.meta.dir])
      expect(loadConfig(['--data', folder], {}, cwd).cwd).toBe(join(checkout, 'workspace'));
  });

  test('can be the checkout if it is named', () => {
    expect(loadConfig(['--cwd', '.', '--data', folder], {}, checkout).cwd).toBe(checkout);
  });

  test('is ignored by git in the checkout', () => {
    const { exitCode } = Bun.spawnSync(['git', 'check-ignore', '-q', 'workspace/x'], { cwd: checkout });
    expect(exitCode).toBe(0);
  });

  test('the data folder is resolved even if other settings are wrong', () => {
    expect(loadDataFolder(['--data', 'kept'], { PORT: 'x', HOST: '0.0.0.0' }, folder)).toBe(
      join(folder, 'kept'),
    );
  });
});

describe('help', () => {
  test('lists every flag and variable', () => {
    for (const { flag, env } of Object.values<Setting>(SETTINGS))
      for (const name of [...env, ...(flag === undefined ? [] : [flag])]) {
        expect(fullHelpText()).toContain(name);
        expect(settingsMarkdown()).toContain(name);
      }
  });

  test('shows defaults', () => {
    expect(fullHelpText()).toContain(
      '--port PORT\n      port of the default listener; 0 for any free port\n      [PORT; default: 3000]',
    );
  });
});
