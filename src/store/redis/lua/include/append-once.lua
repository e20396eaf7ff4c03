--[[
Gives  appendOnce(key, from, text, life)  appends to a string that must have `from` bytes now, and prolongs its life; 'LENGTH' when it has another
                                          length, else 'OK'
]]
local function appendOnce(key, from, text, life)
  local length = redis.call('STRLEN', key)
  -- A command that the client sent again after a broken connection has been carried out already.
  if length == from + #text then return 'OK' end
  if length ~= from then return 'LENGTH' end
  redis.call('APPEND', key, text)
  redis.call('PEXPIRE', key, life)
  return 'OK'
end
