/** URL parameters that belong to the protocol, not to the engine. Those without an effect here are ignored. */
export const PROTOCOL_PARAMETERS: ReadonlySet<string> = new Set(
  (
    "query query_id database default_format session_id session_timeout session_check close_session " +
    "compress decompress enable_http_compression http_zlib_compression_level buffer_size wait_end_of_query " +
    "send_progress_in_http_headers http_headers_progress_interval_ms replace_running_query role quota_key stacktrace " +
    "client_protocol_version http_write_exception_in_output_format cancel_http_readonly_queries_on_client_disconnect"
  ).split(" "),
);
