// What instrumentations call things, and what that means here. Rows are numbered as in the survey of conventions that
// SOURCES.md names; the survey itself holds 76, and only those that attribution reads are here.

/** What a model call is made for; also the stage of a call. */
export type ModelStage = 'llm' | 'embed' | 'rerank' | 'stt' | 'tts';

/** Attribute names, the one that says it best first. Rows 3, 4, 7, 36, 41. */
export const MODEL_NAMES = [
  'gen_ai.request.model',
  'llm.model_name',
  'ai.model.id',
  'langfuse.observation.model.name',
  'embedding.model_name',
  'reranker.model_name',
  'gen_ai.response.model',
  'ai.response.model',
] as const;
export const PROVIDER_NAMES = [
  'gen_ai.provider.name',
  'gen_ai.system',
  'llm.provider',
  'llm.system',
  'ai.model.provider',
] as const;
export const INPUT_TOKENS = [
  'gen_ai.usage.input_tokens',
  'gen_ai.usage.prompt_tokens',
  'llm.token_count.prompt',
  'ai.usage.inputTokens',
  'ai.usage.promptTokens',
  'ai.usage.tokens',
] as const;
export const OUTPUT_TOKENS = [
  'gen_ai.usage.output_tokens',
  'gen_ai.usage.completion_tokens',
  'llm.token_count.completion',
  'ai.usage.outputTokens',
  'ai.usage.completionTokens',
] as const;
export const CACHED_TOKENS = [
  'gen_ai.usage.cache_read.input_tokens',
  'gen_ai.usage.cache_read_input_tokens',
  'gen_ai.usage.cached_tokens',
  'llm.token_count.prompt_details.cache_read',
  'ai.usage.cachedInputTokens',
] as const;

/** Attempts before this one. Rows 20, 51. */
export const ATTEMPTS_BEFORE = [
  'http.request.resend_count',
  'http.resend_count',
  'http.response.header.x-litellm-attempted-retries',
] as const;

/** Time from a call's start to its first output, by name and unit (factor to µs). Rows 6, 9, 12, 37, 40, 41, 44, 74–76. */
export const FIRST_OUTPUT_DURATIONS: readonly (readonly [name: string, toUs: number])[] = [
  ['isochrone.ttft_ms', 1_000],
  ['gen_ai.response.time_to_first_chunk', 1_000_000],
  ['gen_ai.client.operation.time_to_first_chunk', 1_000_000],
  ['ai.response.msToFirstChunk', 1_000],
  ['ai.stream.msToFirstChunk', 1_000],
  ['gen_ai.server.time_to_first_token', 1_000_000],
  ['gen_ai.latency.time_to_first_token', 1_000_000],
  ['time_to_first_token_ms', 1_000],
  ['lk.response.ttft', 1_000_000],
  ['lk.response.ttfb', 1_000_000],
  ['metrics.ttfb', 1_000_000],
  ['ttft', 1_000_000],
];
/** Moment of the first output, as a time (row 41 and Langfuse: an ISO time inside JSON quotes). */
export const FIRST_OUTPUT_TIMES = ['langfuse.observation.completion_start_time'] as const;
/** Events at the first output. Rows 37, 41. */
export const FIRST_OUTPUT_EVENTS: ReadonlySet<string> = new Set([
  'First Token Stream Event',
  'ai.stream.firstChunk',
  'gen_ai.first_token',
  'first_token',
]);

/** `gen_ai.operation.name` (row 2) → what the span is. */
export const OPERATIONS: Readonly<Record<string, ModelStage | 'tool' | 'retrieval' | 'agent'>> = {
  chat: 'llm',
  generate_content: 'llm',
  text_completion: 'llm',
  completion: 'llm',
  responses: 'llm',
  embeddings: 'embed',
  rerank: 'rerank',
  transcription: 'stt',
  speech: 'tts',
  retrieval: 'retrieval',
  execute_tool: 'tool',
  invoke_agent: 'agent',
  create_agent: 'agent',
  invoke_workflow: 'agent',
  agent_step: 'agent',
};

/** `openinference.span.kind` (row 36), `traceloop.span.kind`, `langfuse.observation.type` (row 38), in lower case. */
export const LIBRARY_KINDS: Readonly<Record<string, ModelStage | 'tool' | 'retrieval' | 'agent'>> = {
  llm: 'llm',
  generation: 'llm',
  embedding: 'embed',
  reranker: 'rerank',
  retriever: 'retrieval',
  tool: 'tool',
  agent: 'agent',
  chain: 'agent',
  workflow: 'agent',
  task: 'agent',
};

/** `ai.operationId` of the AI SDK (row 41): the `do…` spans are the provider calls, what is around them holds retries. */
export const AI_SDK_OPERATIONS: Readonly<Record<string, ModelStage | 'tool' | 'agent'>> = {
  'ai.generateText.doGenerate': 'llm',
  'ai.streamText.doStream': 'llm',
  'ai.generateObject.doGenerate': 'llm',
  'ai.streamObject.doStream': 'llm',
  'ai.embed.doEmbed': 'embed',
  'ai.embedMany.doEmbed': 'embed',
  'ai.rerank.doRerank': 'rerank',
  'ai.transcribe.doTranscribe': 'stt',
  'ai.generateSpeech.doGenerate': 'tts',
  'ai.toolCall': 'tool',
  'ai.generateText': 'agent',
  'ai.streamText': 'agent',
  'ai.generateObject': 'agent',
  'ai.streamObject': 'agent',
  'ai.embed': 'agent',
  'ai.embedMany': 'agent',
};

/** Span names of voice frameworks (rows 75, 76) and of vLLM (row 44). */
export const SPAN_STAGES: Readonly<Record<string, ModelStage | 'tool'>> = {
  stt: 'stt',
  llm: 'llm',
  tts: 'tts',
  llm_node: 'llm',
  tts_node: 'tts',
  llm_request: 'llm',
  function_tool: 'tool',
};

/** Paths of model APIs: a call to one is a model call though its instrumentation says only HTTP (row 17). */
export const MODEL_PATHS: readonly (readonly [path: RegExp, stage: ModelStage])[] = [
  [/\/(chat\/completions|completions|responses|messages|converse(-stream)?|invoke(-with-response-stream)?)$/, 'llm'],
  [/:(generateContent|streamGenerateContent)$/, 'llm'],
  [/\/api\/(chat|generate)$/, 'llm'],
  [/\/embeddings?$|:embedContent$/, 'embed'],
  [/\/rerank$/, 'rerank'],
  [/\/audio\/transcriptions$/, 'stt'],
  [/\/audio\/speech$/, 'tts'],
];

/** What a response header tells of the time behind it. Rows 46, 51, 53, 56, 57, 59. */
export type HeaderMeaning =
  /** Compute, the provider's own queue included. */
  | 'model'
  /** The provider's queue. */
  | 'providerQueue'
  /** A gateway's own work. */
  | 'gateway';
export const RESPONSE_HEADERS: readonly (readonly [name: string, toUs: number, meaning: HeaderMeaning])[] = [
  ['openai-processing-ms', 1_000, 'model'],
  ['x-amzn-bedrock-invocation-latency', 1_000, 'model'],
  ['ms-azureml-model-time', 1_000, 'model'],
  ['x-inference-time', 1_000, 'model'],
  ['x-queue-time', 1_000, 'providerQueue'],
  ['x-validation-time', 1_000, 'gateway'],
  ['x-litellm-overhead-duration-ms', 1_000, 'gateway'],
  ['x-kong-proxy-latency', 1_000, 'gateway'],
];
/** Where the callee says it is. Rows 57, 60. */
export const REGION_HEADERS = ['x-groq-region', 'x-ms-region'] as const;

/** Names of work that is a term whatever made it. */
export const COLD_START_NAME =
  /cold.?start|model.?load|load.?model|load.?weights|provision|scale.?up|(container|replica|runtime|pod|lambda).?(init|start)|^init(iali[sz]ation)?$/i;
export const QUEUE_NAME = /(^|[^a-z])(queue[ds]?|queu(e?ing)|backlog)([^a-z]|$)|wait(ing)?.?(for|in).?(slot|queue|worker|capacity|batch)/i;
export const ROUTING_NAME = /^(route|routing|router|dispatch|proxy|forward|load.?balanc\w*|gateway)\b/i;
export const CONNECTION_NAME =
  /^(tcp[ ._-]?connect|tls[ ._-]?(connect|handshake)|ssl[ ._-]?handshake|dns([ ._-]?\w+)?|http[ ._-]?connect|connect)$/i;
/** Instrumentations whose spans wrap a handler without being named work of the application. */
export const FRAMEWORK_SCOPE =
  /instrumentation[-.](express|router|koa|connect|fastify|hapi|nestjs|restify|http|net|fastapi|starlette|asgi|wsgi|flask|django|tornado|aiohttp)|next\.js/i;
/** Libraries that make INTERNAL spans around calls to a hosted model: such a span is the caller's, not the model's. */
export const CALLER_ATTRIBUTES = [
  'openinference.span.kind',
  'ai.operationId',
  'traceloop.span.kind',
  'langfuse.observation.type',
] as const;
/** Attributes of a turn of a conversation (rows 75, 76): a request of its own below a root that lasts a conversation. */
export const TURN_NAMES: ReadonlySet<string> = new Set(['turn', 'agent_turn']);
