/** Limits of everything a client can grow, with the values of Pusher. Sizes are bytes of the JSON as sent. */
export const LIMITS = {
  /** concurrent sockets; one more gets 4100 */
  sockets: 100_000,
  channelsPerSocket: 1_000,
  membersPerChannel: 100,
  userIdLength: 128,
  userInfoBytes: 2_048,
  channelNameLength: 200,
  eventNameLength: 200,
  eventBytes: 10_240,
  clientEventsPerSecond: 10,
  channelsPerEvent: 100,
  eventsPerBatch: 10,
  requestBytes: 1_048_576,
  /** a client that is silent for this long receives a ping … */
  silenceMs: 120_000,
  /** … and is closed if it stays silent for this long */
  answerMs: 30_000,
  /** cache channels whose last event is kept; beyond that the oldest is dropped */
  rememberedChannels: 1_000,
  rememberedMs: 30 * 60_000,
};

export type Limits = typeof LIMITS;
