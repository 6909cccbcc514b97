"""The table from one seat: as text, and as a picture drawn by Pillow.

`table_view.TableView` is what the environments know of it. Drawing libraries are imported only
where a picture is asked for.
"""
