"""The archive worker: appends every accepted event to segments on disk before it may leave the stream."""
