--[[
A table of the negative cache has buckets of 108 bytes, little-endian: the tag of the table (4), the server's time in milliseconds at which the rows of all ids
added to it are visible (8), and four denials, each the time at which it ends (8) and the digest of its id (16).

Gives  isTable(meta, name)       whether the metadata name this table
       bucketOf(table, number)   a bucket, and the offset of its first byte; nil when it is not there whole
]]
--- @include "ask"
local function isTable(meta, name)
  return ask('HGET', meta, 'denials') == name
end

local function bucketOf(table, number)
  local from = number * 108
  local bucket = ask('GETRANGE', table, string.format('%d', from), string.format('%d', from + 107))
  if type(bucket) ~= 'string' or #bucket ~= 108 then return nil end
  return bucket, from
end
